/* How posters read a topic's root without a lock, and how writers free the memory that they remove.
 *
 * The code is in CPubSub.c (pubsub_enter, pubsub_leave, pubsub_settle, pubsub_first_protected), Retirement.swift,
 * HandlerStore+Publish.swift (reclaim, whenUnread) and BusCore.swift (housekeep). The model fences.pml covers owners that
 * clear their marks, and two threads that reclaim at once.
 *
 * The plain stores of each poster to its slot go through a store buffer, as on x86. An exchange waits until the buffer of
 * its own thread is empty. The barrier across threads waits until each buffer has been empty. A poster stores without a
 * fence, and falls back to the exchange if it is marked or the root has changed.
 *
 * The model shows for all interleavings of four worlds:
 *
 *   - No poster reads a buffer that was freed, or calls a handler whose captured state was freed.
 *   - Once a drain has returned, no poster runs the handler or will run it.
 *   - Every drain returns, although a poster leaves with a plain store.
 *   - No memory is freed twice. At the end, the next writer frees all garbage that is left, so none was forgotten.
 *
 * check.sh checks the model as it stands, and once with each of these mistakes, which it must find:
 *
 *   NO_SCAN         the reclaimer does not read the slots
 *   NO_MEETING      the reclaimer marks the posters, but runs no barrier
 *   LOOK_FIRST      the unmarked poster checks its mark and the root before the store instead of after it
 *   NO_SECOND_LOOK  the fenced poster does not check the root after the store
 *   NO_FENCE        the fenced poster stores without a fence
 *   NO_OLDER        the reclaimer frees the garbage of a root although a thread protects an older root
 *   NO_BARRIER      a drain runs no barrier before it scans again
 *   NO_LOOK_BACK    the holder of the lock does not check for housekeeping that came meanwhile
 *   NO_PATIENCE     a waiting drain does not make every leaving post scan
 *   NO_URGENT       a leaving post scans only if its root was replaced (with BIG_BUFFERS, which are too large to copy for
 *                   a drain) */

#define POSTERS 2
/* One world with everything has too many states. By default there are two posters and a thread that drains. With
 * TWO_WRITERS there are one poster that posts twice, a thread that drains, and a writer. */
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
byte slot[POSTERS];               /* the root that each poster protects, as other threads see it */
chan stores[POSTERS] = [2] of { byte };  /* the stores to the slot that other threads do not see yet */
bool marked[POSTERS];             /* whether the poster uses fences */
byte named[BUFFERS] = 0;          /* the handlers in each buffer that are not cancelled */
byte freshest = 1;
byte freed_buffers;               /* a bit for each buffer */
byte freed_contexts;
byte calling[POSTERS];            /* the handler that each poster is calling */
byte drained;                     /* the handlers whose drain has returned */
byte called_back;                 /* the drains whose action has been called */
byte over;                        /* the number of posters and writers that have ended */

bool lock;
bool owed;
byte flags;

byte epochs = 1;                  /* the number of roots that may still be read */
byte epoch_root[EPOCHS];          /* these roots, oldest first */
byte contexts[EPOCHS];            /* the garbage that was retired while each was the root, by kind */
byte buffers[EPOCHS];
byte actions[EPOCHS];

#define BIT(number) (1 << (number))
#define FENCE(poster) (empty(stores[poster]))
#define IS_CLEAN (epochs == 1 && contexts[0] == 0 && buffers[0] == 0 && actions[0] == 0)
#define HAS_ACTIONS (actions[0] != 0 || actions[1] != 0 || actions[2] != 0 || actions[3] != 0 || \
                     actions[4] != 0 || actions[5] != 0)
#define WAITS_FOR_PRESENT (contexts[epochs - 1] != 0 || buffers[epochs - 1] != 0 || actions[epochs - 1] != 0)

/* Marks the posters that post without a fence, and then runs a barrier on them. */
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

/* Sets first to the oldest epoch that a thread protects; reads one slot after the other. */
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

/* Frees the garbage of the epochs before first: no thread can read their roots any more. */
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
    /* Removes these epochs, except the present one. */
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

/* Publishes a copy without the cancelled handlers, or 0 if none is left; retires the former root in its own epoch. */
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

/* Runs in a post that leaves a topic in which garbage waits; never waits for the lock. */
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

/* At any time, a store leaves a store buffer and becomes visible to all threads. */
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
     /* The post leaves with a plain store, and then checks whether garbage waits. */
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

/* Cancels a handler in every buffer that contains it, frees or retires its captured state, and may replace the root. */
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

/* May copy the buffer, as a subscriber does that finds it full; then cancels the other handler. */
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

/* After all others have ended, the next writer frees the remaining garbage, and no garbage is left. */
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
