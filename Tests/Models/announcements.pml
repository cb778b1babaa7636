/* How posts read blocks of handlers without a lock, and how writers release what they remove.
 *
 * The code is in CPubSub.c (pubsub_enter, move_on, pubsub_barrier, pubsub_is_read, pubsub_runs), Garbage.swift and
 * BusCore.swift (housekeep).
 *
 * The plain stores of each poster go through a store buffer, as on x86. The writer's barrier waits until each buffer has
 * been empty. A poster has no fence: it stores what it announces, and then looks.
 *
 * The model shows for all interleavings of its worlds:
 *
 *   - No poster reads a block that was freed, or calls a handler whose captured state was released.
 *   - Once a drain has returned, no poster runs the handler or will run it; the poster's other handler may run.
 *   - Every drain returns, and what a handler captured is released, without the help of a later writer, although a poster
 *     moves on with a plain store.
 *   - Nothing is freed twice.
 *
 * check.sh checks each world as it stands, and once with each of these mistakes, which it must find:
 *
 *   NO_SCAN         the writer does not read what posters announce
 *   NO_BARRIER      the writer reads it without a barrier
 *   LOOK_FIRST      the poster looks at a handler before it announces it
 *   NO_SECOND_LOOK  the poster does not check that the block it announced is still published
 *   ONLY_PRESENT    the writer does not cancel the handler in retired blocks
 *   NO_ASKING       the writer does not ask the poster to report
 *   NO_LOOK_AGAIN   the writer does not look again, after a barrier, once it has asked
 *   NO_SECOND_BARRIER the writer looks again without a barrier
 *   ANY_POSTER      when it looks again, the writer counts posters that it has not asked
 *   EARLY_REPORT    the poster looks whether it is awaited before it moves on
 *   NO_LOOK_BACK    the holder of the lock does not look for reports that came meanwhile
 *   PLAIN_TAKE      a thread takes its record with a plain store (with LATE) */

#define POSTERS 2
#define BLOCKS 4
#define FIRST 1
#define SECOND 2
/* What a poster announces: a block, and the handler in it that it is at, or no handler. */
#define AT(block, handler) ((block) * 4 + (handler))
#define BIT(number) (1 << (number))
#define TAKEN 255

#ifdef TWO_POSTS
#define POSTS 2
#else
#define POSTS 1
#endif

byte root = 1;                    /* the present block; 0 while there is no handler */
byte slot[POSTERS];               /* what each poster announces, as other threads see it */
chan stores[POSTERS] = [2] of { byte };  /* the stores that other threads do not see yet */
bool in_use[POSTERS];             /* whether the poster has a record */
bool awaited[POSTERS];            /* whether the poster is asked to report when it moves on */
byte standing[BLOCKS] = 0;        /* the handlers in each block that are not cancelled */
byte freshest = 1;
byte freed_blocks;                /* a bit for each block */
byte retired;                     /* a bit for each block that waits for its readers */
byte released;                    /* the handlers whose captured state has been released */
byte pending;                     /* the cancelled handlers whose captured state waits for a run */
byte waiting;                     /* the handlers whose drain waits for a run */
byte called_back;                 /* the handlers whose drain has ended */
byte drained;
byte calling[POSTERS];
bool lock, owed;

#define FENCE(poster) empty(stores[poster])

/* Waits until every other thread that has posted has passed a barrier. */
inline barrier() {
#ifndef NO_BARRIER
  if
  :: in_use[0] -> FENCE(0)
  :: else -> skip
  fi;
  if
  :: in_use[1] -> FENCE(1)
  :: else -> skip
  fi
#else
  skip
#endif
}

#if defined(ANY_POSTER) || defined(NO_ASKING)
#define COUNTS(poster) true
#else
#define COUNTS(poster) awaited[poster]
#endif

/* Sets seen to whether a poster is at this handler, in any block; reads one slot after the other. */
inline scan_handler(handler, asks) {
  seen = 0;
#ifndef NO_SCAN
  reader = 0;
  do
  :: reader < POSTERS ->
     if
     :: (slot[reader] & 3) == handler ->
        if
        :: asks -> awaited[reader] = true
        :: else -> skip
        fi;
        /* A poster that was not asked came later, and finds the handler cancelled. */
        if
        :: COUNTS(reader) -> seen = 1
        :: else -> skip
        fi
     :: else -> skip
     fi;
     reader++
  :: else -> break
  od;
  reader = 0
#endif
}

/* Sets seen to whether a cancelled handler runs; if so, its poster reports when it has moved on. */
inline runs(handler) {
#ifdef NO_ASKING
  scan_handler(handler, false);
#else
  scan_handler(handler, true);
#endif
#ifndef NO_LOOK_AGAIN
  if
  :: seen != 0 ->
#ifndef NO_SECOND_BARRIER
     barrier();
#endif
     scan_handler(handler, false)
  :: else -> skip
  fi
#endif
}

/* Ends what waits for the runs of a handler. */
inline end_runs(handler) {
  if
  :: ((pending | waiting) & handler) != 0 ->
     runs(handler);
     if
     :: seen == 0 ->
        d_step {
          assert((released & pending & handler) == 0);
          released = released | (pending & handler);
          called_back = called_back | (waiting & handler);
          pending = pending & ~handler;
          waiting = waiting & ~handler
        }
     :: else -> seen = 0
     fi
  :: else -> skip
  fi
}

/* Runs in a post that has moved on from an awaited handler; never waits for the lock. */
inline housekeep() {
  owed = true;
  do
  :: owed ->
     if
     :: atomic { !lock -> lock = true };
        owed = false;
        end_runs(FIRST);
        end_runs(SECOND);
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

/* Publishes a copy without the cancelled handlers, or 0 if none is left; frees former blocks that no poster reads. */
inline replace() {
  former = root;
  if
  :: standing[former] == 0 -> fresh = 0
  :: else -> freshest++; assert(freshest < BLOCKS); fresh = freshest; standing[fresh] = standing[former]
  fi;
  root = fresh;
  retired = retired | BIT(former);
  barrier();
  former = 1;
  do
  :: former < BLOCKS ->
     if
     :: (retired & BIT(former)) != 0 ->
        reader = 0; seen = 0;
#ifndef NO_SCAN
        do
        :: reader < POSTERS ->
           if
           :: slot[reader] / 4 == former -> seen = 1
           :: else -> skip
           fi;
           reader++
        :: else -> break
        od;
#endif
        if
        :: seen == 0 -> d_step { retired = retired & ~BIT(former); freed_blocks = freed_blocks | BIT(former) }
        :: else -> skip
        fi
     :: else -> skip
     fi;
     former++
  :: else -> break
  od;
  former = 0; fresh = 0; reader = 0; seen = 0
}

/* At any time, a store leaves a store buffer and becomes visible to all threads. */
active proctype Memory() {
  byte store;
end:
  do
  :: atomic { stores[0]?store -> if :: store == TAKEN -> in_use[0] = true :: else -> slot[0] = store fi; store = 0 }
  :: atomic { stores[1]?store -> if :: store == TAKEN -> in_use[1] = true :: else -> slot[1] = store fi; store = 0 }
  od
}

/* Announces what the poster is at now, and looks whether a writer waits for that. */
inline move_on(address) {
#ifdef EARLY_REPORT
  if
  :: awaited[me] -> awaited[me] = false; FENCE(me); housekeep()
  :: else -> skip
  fi;
  stores[me]!address
#else
  stores[me]!address;
  if
  :: awaited[me] -> awaited[me] = false; FENCE(me); housekeep()
  :: else -> skip
  fi
#endif
}

inline call(handler) {
  if
  :: stands ->
     calling[me] = handler;
     assert((freed_blocks & BIT(mine)) == 0);
     assert((released & handler) == 0);
     assert((drained & handler) == 0);
     /* The handler runs. */
     assert((released & handler) == 0);
     calling[me] = 0
  :: else -> skip
  fi
}

#define LOOK(handler) \
  assert((freed_blocks & BIT(mine)) == 0); \
  stands = (standing[mine] & handler) != 0

proctype Poster(byte me) {
  byte reader, seen;
  byte posts, mine;
  bool stands;
#ifdef LATE
  /* The thread takes its record at its first post. */
#ifdef PLAIN_TAKE
  stores[me]!TAKEN;
#else
  atomic { FENCE(me) -> in_use[me] = true };
#endif
#endif
  do
  :: posts < POSTS ->
     do
     :: mine = root;
        stores[me]!AT(mine, 0);
#ifdef NO_SECOND_LOOK
        break
#else
        if
        :: root == mine -> break
        :: else -> skip
        fi
#endif
     od;
     if
     :: mine != 0 ->
#ifdef LOOK_FIRST
        LOOK(FIRST); stores[me]!AT(mine, FIRST);
#else
        stores[me]!AT(mine, FIRST); LOOK(FIRST);
#endif
        call(FIRST);
        move_on(AT(mine, SECOND));
        LOOK(SECOND);
        call(SECOND);
        move_on(0)
     :: else -> stores[me]!0
     fi;
     posts++; mine = 0; stands = false
  :: else -> break
  od
}

/* Cancels a handler in every block that has it, and releases what it captured. */
inline cancel(handler) {
  standing[root] = standing[root] & ~handler;
#ifndef ONLY_PRESENT
  former = 1;
  do
  :: former < BLOCKS ->
     if
     :: (retired & BIT(former)) != 0 -> standing[former] = standing[former] & ~handler
     :: else -> skip
     fi;
     former++
  :: else -> break
  od;
  former = 0;
#endif
  barrier();
  pending = pending | handler;
  end_runs(handler)
}

/* With STEADY all worlds have one block: two posters and replaced blocks have too many states together. */
inline may_replace() {
#ifdef STEADY
  skip
#else
  if
  :: freshest < BLOCKS - 1 -> replace()
  :: skip
  fi
#endif
}

proctype Writer() {
  byte reader, seen, former, fresh;
  take_lock();
  may_replace();                  /* a subscriber that found the block full */
  let_go();
  take_lock();
  cancel(FIRST);
  may_replace();
  let_go();
  /* The drain. */
  take_lock();
  barrier();
  waiting = waiting | FIRST;
  end_runs(FIRST);
  let_go();
  (called_back & FIRST) != 0;
  atomic {
    assert(calling[0] != FIRST && calling[1] != FIRST);
    drained = drained | FIRST
  };
#ifdef BOTH
  take_lock();
  cancel(SECOND);
  may_replace();
  let_go();
  (released & SECOND) != 0;
#endif
  (released & FIRST) != 0
}

init {
  atomic {
    standing[1] = FIRST | SECOND;
#ifndef LATE
    in_use[0] = true; in_use[1] = true;
#endif
    run Poster(0);
#ifdef TWO_POSTERS
    run Poster(1);
#endif
    run Writer()
  }
}
