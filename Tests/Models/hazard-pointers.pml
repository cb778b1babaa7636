/* How posters read a topic's root without a lock, and how writers free what they take out: CPubSub.c (pubsub_enter,
 * pubsub_leave, pubsub_settle, pubsub_first_protected), Retirement.swift, HandlerStore+Publish.swift (reclaim, whenUnread),
 * BusCore.swift (housekeep). Marks that are taken off again, and two threads that free at once: fences.pml.
 *
 * Every poster's plain stores to its slot go through a store buffer, as on x86; an exchange waits until it is empty, and the
 * barrier across threads until each has been. A poster stores without a fence, and falls back to the exchange if it is marked
 * or the root is another. Shown for all interleavings of four worlds:
 *
 *   - no poster looks into a buffer that was freed, or calls a handler whose captured state was freed;
 *   - once a drain has returned, no poster is in the handler, nor will be;
 *   - every drain returns, though a poster leaves by a plain store;
 *   - nothing is freed twice, and the next writer finds nothing that could have been freed and was forgotten.
 *
 * check.sh runs it as it is, and once for each of the mistakes below, which must be found:
 *   NO_SCAN, NO_MEETING (the posters are marked, and no barrier is passed), LOOK_FIRST (before the store), NO_SECOND_LOOK,
 *   NO_FENCE, NO_OLDER, NO_BARRIER (for a drain), NO_LOOK_BACK, NO_PATIENCE, and NO_URGENT
 * (with BIG_BUFFERS, which are too large to be copied for a drain). */

#define POSTERS 2
/* All together are too many states: two posters and a thread that drains; or one that posts twice, one that drains, and a writer. */
#ifdef TWO_WRITERS
#define POSTS 2
#define WORKERS 3
#define CANCELLED (FIRST | SECOND)
#else
#define POSTS 1
#define WORKERS 3
#define CANCELLED FIRST
#endif
#define BUFFERS 6
#define EPOCHS 6
#define FIRST 1
#define SECOND 2
#define RECLAIM 1
#define URGENT 2

byte root = 1;                    /* the present buffer; 0 while there is no subscriber */
byte slot[POSTERS];               /* what each poster protects, as others see it */
chan stores[POSTERS] = [2] of { byte };  /* its stores to the slot that are still on their way */
bool marked[POSTERS];             /* a marked thread fences for itself */
byte named[BUFFERS] = 0;          /* the handlers that stand in a buffer, not cancelled */
byte freshest = 1;
byte freed_buffers;               /* a bit for each */
byte freed_contexts;
byte calling[POSTERS];            /* the handler that each poster is in */
byte drained;                     /* handlers whose drain has returned */
byte called_back;                 /* drains whose action has been called */
byte over;                        /* posters and writers that are done */

bool lock;
bool owed;
byte flags;

byte epochs = 1;                  /* the roots that may still be read, oldest first */
byte epoch_root[EPOCHS];
byte contexts[EPOCHS];            /* what was retired while each was the root */
byte buffers[EPOCHS];
byte actions[EPOCHS];

#define BIT(number) (1 << (number))
#define FENCE(poster) (empty(stores[poster]))
#define IS_CLEAN (epochs == 1 && contexts[0] == 0 && buffers[0] == 0 && actions[0] == 0)
#define HAS_ACTIONS (actions[0] != 0 || actions[1] != 0 || actions[2] != 0 || actions[3] != 0 || \
                     actions[4] != 0 || actions[5] != 0)
#define WAITS_FOR_PRESENT (contexts[epochs - 1] != 0 || buffers[epochs - 1] != 0 || actions[epochs - 1] != 0)

/* A thread that posts without a fence is marked, and then passes a barrier. */
inline meet_posters() {
  if
  :: marked[0] && marked[1] -> skip
  :: else ->
     marked[0] = true;
     marked[1] = true;
#ifndef NO_MEETING
     FENCE(0);
     FENCE(1)
#endif
  fi
}

/* first = the oldest epoch that any thread protects; one slot is read after the other. */
inline scan(first) {
  first = epochs;
#ifndef NO_SCAN
  meet_posters();
  reader = 0;
  do
  :: reader < POSTERS ->
     d_step {
       seen = slot[reader];
       index = 0;
       do
       :: index < first && (seen == 0 || epoch_root[index] != seen) -> index++
       :: else -> break
       od;
       first = index;
       reader++; index = 0; seen = 0
     }
  :: else -> break
  od;
  reader = 0
#endif
}

/* Frees what was retired while those were the root that no thread can read any more. */
inline free_unread(first) {
  d_step {
    index = 0;
    do
    :: index < epochs ->
       if
#ifdef NO_OLDER
       :: index < first || (slot[0] != epoch_root[index] && slot[1] != epoch_root[index]) ->
#else
       :: index < first ->
#endif
          assert((freed_contexts & contexts[index]) == 0);
          assert((freed_buffers & buffers[index]) == 0);
          freed_contexts = freed_contexts | contexts[index];
          freed_buffers = freed_buffers | buffers[index];
          called_back = called_back | actions[index];
          contexts[index] = 0; buffers[index] = 0; actions[index] = 0
       :: else -> skip
       fi;
       index++
    :: else -> break
    od;
    /* The oldest go, but for the present one. */
    do
    :: first > 0 && epochs > 1 ->
       index = 0;
       do
       :: index + 1 < epochs ->
          epoch_root[index] = epoch_root[index + 1]; contexts[index] = contexts[index + 1];
          buffers[index] = buffers[index + 1]; actions[index] = actions[index + 1];
          index++
       :: else -> break
       od;
       epochs--; first--;
       epoch_root[epochs] = 0; contexts[epochs] = 0; buffers[epochs] = 0; actions[epochs] = 0
    :: else -> break
    od;
    index = 0; first = 0
  }
}

/* Shows readers a copy without the cancelled, or nothing; the former root is retired under itself. */
inline replace_root() {
  d_step {
    former = root;
    if
    :: named[former] == 0 -> fresh = 0
    :: else -> freshest++; assert(freshest < BUFFERS); fresh = freshest; named[fresh] = named[former]
    fi;
    buffers[epochs - 1] = buffers[epochs - 1] | BIT(former)
  };
  root = fresh;
  d_step {
    assert(epochs < EPOCHS);
    epoch_root[epochs] = fresh; epochs++;
    former = 0; fresh = 0
  }
}

#define WAITS_FOR_PRESENT_ALONE (epochs == 1 && WAITS_FOR_PRESENT)

#ifdef NO_URGENT
#define IS_URGENT false
#elif defined(NO_PATIENCE)
#define IS_URGENT WAITS_FOR_PRESENT_ALONE
#else
#define IS_URGENT (WAITS_FOR_PRESENT_ALONE || HAS_ACTIONS)
#endif

inline set_flags() {
  flags = (IS_CLEAN -> 0 : (RECLAIM | (IS_URGENT -> URGENT : 0)))
}

inline reclaim() {
  scan(first);
  free_unread(first);
#ifndef BIG_BUFFERS
  if
  :: WAITS_FOR_PRESENT && root != 0 && freshest < BUFFERS - 2 &&
     (slot[0] == root || slot[1] == root) -> replace_root()
  :: else -> skip
  fi;
#endif
  set_flags()
}

/* By a thread that leaves a topic in which something waits; never waits for the lock. */
inline housekeep() {
  owed = true;
  do
  :: owed ->
     if
     :: atomic { !lock -> lock = true };
        owed = false;
        reclaim();
        lock = false
     :: lock -> break
     fi
  :: !owed -> break
  od
}

inline take_lock() { atomic { !lock -> lock = true } }

inline let_go() {
  lock = false;
#ifndef NO_LOOK_BACK
  if
  :: owed -> housekeep()
  :: else -> skip
  fi
#endif
}

/* The store buffers empty themselves, at any time. */
active proctype Memory() {
end:
  do
  :: stores[0]?slot[0]
  :: stores[1]?slot[1]
  od
}

proctype Poster(byte me) {
  byte first, reader, seen, index, former, fresh;
  byte posts, mine, handler;
  do
  :: posts < POSTS ->
     mine = root;
#ifdef LOOK_FIRST
     if
     :: !marked[me] && root == mine -> stores[me]!mine; goto reading
     :: else -> skip
     fi;
#else
     if
     :: !marked[me] ->
        stores[me]!mine;
        if
        :: !marked[me] ->
           if
           :: root == mine -> goto reading
           :: else -> skip
           fi
        :: else -> skip
        fi;
        stores[me]!0;
        mine = root
     :: else -> skip
     fi;
#endif
     do
     ::
#ifdef NO_FENCE
        stores[me]!mine;
#else
        atomic { FENCE(me) -> slot[me] = mine };
#endif
#ifdef NO_SECOND_LOOK
        break
#else
        if
        :: root == mine -> break
        :: else -> mine = root
        fi
#endif
     od;
reading:
     if
     :: mine != 0 ->
        handler = FIRST;
        do
        :: handler <= SECOND ->
           assert((freed_buffers & BIT(mine)) == 0);
           if
           :: (named[mine] & handler) != 0 ->
              calling[me] = handler;
              assert((freed_contexts & handler) == 0);
              assert((drained & handler) == 0);
              calling[me] = 0
           :: else -> skip
           fi;
           handler = handler << 1
        :: else -> break
        od
     :: else -> skip
     fi;
     /* Leaving is a plain store; then a look at whether any thread waits. */
     stores[me]!0;
     if
     :: (flags & RECLAIM) != 0 && ((flags & URGENT) != 0 || root != mine) ->
        FENCE(me);
        housekeep()
     :: else -> skip
     fi;
     posts++; mine = 0; handler = 0
  :: else -> break
  od;
  FENCE(me);
  over++
}

/* Cancels wherever the handler is named, retires what it captured, and sometimes moves the living together. */
inline cancel(handler) {
  named[root] = named[root] & ~handler;
  index = 0;
  do
  :: index < epochs ->
     d_step {
       seen = 1;
       do
       :: seen < BUFFERS ->
          if
          :: (buffers[index] & BIT(seen)) != 0 -> named[seen] = named[seen] & ~handler
          :: else -> skip
          fi;
          seen++
       :: else -> break
       od;
       seen = 0; index++
     }
  :: else -> break
  od;
  index = 0;
  if
  :: IS_CLEAN ->
     scan(first);
     if
     :: first == epochs -> d_step { assert((freed_contexts & handler) == 0); freed_contexts = freed_contexts | handler }
     :: else -> contexts[epochs - 1] = contexts[epochs - 1] | handler
     fi;
     first = 0
  :: else -> contexts[epochs - 1] = contexts[epochs - 1] | handler
  fi;
  if
  :: named[root] == 0 -> replace_root()
  :: named[root] != 0 -> replace_root()
  :: named[root] != 0 -> skip
  fi;
  if
  :: !IS_CLEAN -> reclaim()
  :: else -> skip
  fi
}

proctype Canceller() {
  byte first, reader, seen, index, former, fresh;
  take_lock();
  cancel(FIRST);
  let_go();
  /* The drain. */
  take_lock();
  scan(first);
  if
  :: first < epochs ->
     first = 0;
     actions[epochs - 1] = actions[epochs - 1] | FIRST;
#ifndef BIG_BUFFERS
     if
     :: root != 0 -> replace_root()
     :: else -> skip
     fi;
#endif
     set_flags();
#ifndef NO_BARRIER
     FENCE(0); FENCE(1);
#endif
     scan(first);
     free_unread(first);
     set_flags()
  :: else -> called_back = called_back | FIRST; first = 0
  fi;
  let_go();
  (called_back & FIRST) != 0;
  atomic {
    assert(calling[0] != FIRST && calling[1] != FIRST);
    drained = drained | FIRST
  };
  over++
}

/* Makes room, as a subscriber does that finds the buffer full, or cancels the other handler. */
proctype Writer() {
  byte first, reader, seen, index, former, fresh;
  take_lock();
  if
  :: root != 0 -> replace_root(); reclaim()
  :: skip
  fi;
  let_go();
  take_lock();
  if
  :: root != 0 -> cancel(SECOND)
  :: else -> skip
  fi;
  let_go();
  over++
}

/* When all is over, the next writer finds nothing that still waits. */
proctype Last() {
  byte first, reader, seen, index, former, fresh;
  over == WORKERS;
  take_lock();
  reclaim();
  assert(IS_CLEAN);
  assert(freed_contexts == CANCELLED);
  lock = false
}

init {
  atomic {
    named[1] = FIRST | SECOND;
    epoch_root[0] = 1;
    run Poster(0);
    run Canceller();
#ifdef TWO_WRITERS
    run Writer();
#else
    run Poster(1);
#endif
    run Last()
  }
}
