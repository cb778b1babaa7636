/* How posters read a root without a fence, and how a reclaimer finds out that no poster reads it.
 *
 * The code is in CPubSub.c: protects_unfenced, protect_fenced, reconsider_fences, is_unfenced, ask_for_fences,
 * mark_surely, meet_posters, pubsub_first_protected, pubsub_make_record. The model hazard-pointers.pml covers the rest:
 * when memory is retired and freed, and when a drain ends.
 *
 * The plain stores of each thread go through a store buffer, as on x86. A locked instruction waits until the buffer of its
 * own thread is empty. The barrier across threads waits until the buffer of each thread has been empty.
 *
 * Each of the two reclaimers has a topic and a lock of its own, so both may run at once. The owner of a record clears its
 * marks after one post with a fence; the real one waits for 256. A thread may give its record back, and another thread may
 * take it.
 *
 * The model shows for all interleavings:
 *
 *   - No poster reads a root that was freed.
 *   - No record keeps marks that its owner would never clear.
 *   - With STAYS, the reclaimers cancel a handler in a root that stays. No poster calls a handler that was freed.
 *   - With ENDED, that handler was the last one. The reclaimer removes the root, and publishes the same address again once
 *     other data has used its memory.
 *
 * check.sh checks the model as it stands, and once with each of these mistakes, which it must find:
 *
 *   NO_BARRIER         no barrier runs
 *   EARLY_RELIANCE     a reclaimer relies on a mark before the barrier has run
 *   LOOK_FIRST         the poster checks its duties before the store only, and does not check the root again
 *   NO_LOOK_AT_DUTIES  the poster does not check its duties after the store
 *   NO_SECOND_LOOK     the poster does not check the root after the store
 *   NO_SCAN            the reclaimer does not read the slots
 *   UNFENCED_TAKE      a thread takes a record without a fence
 *   UNFENCED_DROP      the owner clears its marks without a fence (with MARKED: the record has marks at first)
 *   BLIND_MARK         a reclaimer sets SURELY although the owner has cleared its marks meanwhile (with MARKED) */

#define POSTERS 2
#define TOPICS 2
/* One world with everything has too many states. In the first, two threads post once each. In the others, one thread
 * posts until it has cleared its marks again, and the record of another, which does not post, is in use. */
#if defined(MARKED)
#define POSTS_OF_FIRST 3
#define POSTS_OF_SECOND 0
#elif defined(AGAIN)
#define POSTS_OF_FIRST 4
#define POSTS_OF_SECOND 0
#else
#define POSTS_OF_FIRST 1
#define POSTS_OF_SECOND 1
#endif

#define FENCES 1
#define SURELY 2
#define RELIED_ON 4
/* Values in a store buffer, for two of the mistakes: a store that clears the duties, and one that takes the record. */
#define TAKES_OFF 255
#define TAKES 254

#define FIRST_ROOT(topic) (1 + (topic) * 3)

byte root[TOPICS];
byte freed;                       /* a bit for each root */
bool cancelled[TOPICS];           /* whether the handler in each root is cancelled */
byte slot[POSTERS];
chan stores[POSTERS] = [3] of { byte };
byte duties[POSTERS];
bool in_use[POSTERS];
bool asking;                      /* the mutex that a reclaimer holds while it asks for fences */

#define BIT(number) (1 << (number))
#define FENCE(poster) (empty(stores[poster]))

inline arrive(poster, value) {
  if
  :: value == TAKES_OFF -> duties[poster] = 0
  :: value == TAKES -> in_use[poster] = true
  :: else -> slot[poster] = value
  fi;
  value = 0
}

/* At any time, a store leaves a store buffer and becomes visible to all threads. */
active proctype Memory() {
  byte value;
end:
  do
  :: d_step { nempty(stores[0]) -> stores[0]?value; arrive(0, value) }
  :: d_step { nempty(stores[1]) -> stores[1]?value; arrive(1, value) }
  od
}

proctype Poster(byte me; byte posts) {
  byte topic, mine, fenced;
  bool looksAtNone, isMine = in_use[me];
  do
  :: posts > 0 ->
     if
     :: isMine -> skip
     :: else -> isMine = true;
#ifdef UNFENCED_TAKE
        stores[me]!TAKES
#else
        atomic { FENCE(me) -> in_use[me] = true }
#endif
     fi;
     /* Only the first poster chooses its topic, which is enough: the topics are alike. */
     if
     :: me == 0 -> topic = 0
     :: topic = 1
     fi;
#ifdef LOOK_FIRST
     d_step { looksAtNone = (duties[me] == 0); mine = root[topic] };
     stores[me]!mine;
     if
     :: looksAtNone -> goto reading
     :: else -> skip
     fi;
#else
     mine = root[topic];
     if
     :: (duties[me] & FENCES) == 0 ->
        stores[me]!mine;
#ifndef NO_LOOK_AT_DUTIES
        if
#ifdef UNFENCED_DROP
        :: duties[me] == 0 || stores[me]?? [TAKES_OFF] ->
#else
        :: duties[me] == 0 ->
#endif
#endif
#ifdef NO_SECOND_LOOK
           goto reading
#else
           if
           :: root[topic] == mine -> goto reading
           :: else -> skip
           fi
#endif
#ifndef NO_LOOK_AT_DUTIES
        :: else -> skip
        fi
#endif
#ifdef UNFENCED_DROP
     :: stores[me]?? [TAKES_OFF] -> stores[me]!mine; if :: root[topic] == mine -> goto reading :: else -> skip fi
#endif
     :: else -> skip
     fi;
#endif
     mine = root[topic];
     do
     :: atomic { FENCE(me) -> slot[me] = mine };
#ifdef NO_SECOND_LOOK
        break
#else
        if
        :: root[topic] == mine -> break
        :: else -> mine = root[topic]
        fi
#endif
     od;
reading:
     if
     :: mine != 0 && !cancelled[topic] -> assert((freed & BIT(mine)) == 0)
     :: else -> skip
     fi;
     stores[me]!0;
     if
     :: (duties[me] & FENCES) != 0 ->
        if
        :: d_step { (duties[me] & RELIED_ON) != 0 -> duties[me] = duties[me] & ~RELIED_ON }
#ifdef UNFENCED_DROP
        :: duties[me] == (FENCES | SURELY) -> stores[me]!TAKES_OFF
#else
        :: d_step { duties[me] == (FENCES | SURELY) && FENCE(me) -> duties[me] = 0 }
#endif
        :: d_step { (duties[me] & SURELY) == 0 -> skip }
        fi
     :: else -> skip
     fi;
     posts--; topic = 0; mine = 0; looksAtNone = false;
     /* The thread may end, and another thread may take its record. */
     if
     :: posts > 0 -> atomic { FENCE(me) -> in_use[me] = false; isMine = false }
     :: skip
     fi
  :: else -> break
  od
}

/* Sets isUnfenced if the record's owner must be asked to use fences. Otherwise notes that a reclaimer relies on them. */
inline is_unfenced(reader) {
  isUnfenced = false;
  if
  :: !in_use[reader] -> skip
  :: else ->
     d_step {
       if
#ifdef EARLY_RELIANCE
       :: (duties[reader] & FENCES) == 0 -> isUnfenced = true
#else
       :: (duties[reader] & SURELY) == 0 -> isUnfenced = true
#endif
       :: else -> duties[reader] = duties[reader] | RELIED_ON
       fi
     }
  fi
}

inline ask_for_fences() {
  atomic { !asking -> asking = true };
  reader = 0;
  do
  :: reader < POSTERS ->
     is_unfenced(reader);
     if
     :: isUnfenced -> duties[reader] = duties[reader] | FENCES
     :: else -> skip
     fi;
     isUnfenced = false;
     reader++
  :: else -> break
  od;
#ifndef NO_BARRIER
  FENCE(0);
  FENCE(1);
#endif
  reader = 0;
  do
  :: reader < POSTERS ->
#ifdef BLIND_MARK
     if
     :: (duties[reader] & FENCES) != 0 -> duties[reader] = duties[reader] | SURELY | RELIED_ON
     :: else -> skip
     fi;
#else
     d_step {
       if
       :: (duties[reader] & FENCES) != 0 -> duties[reader] = duties[reader] | SURELY | RELIED_ON
       :: else -> skip
       fi
     };
#endif
     reader++
  :: else -> break
  od;
  asking = false
}

proctype Reclaimer(byte topic) {
  byte old, reader;
  bool isUnfenced, isRead;
#if defined(ENDED)
  d_step { old = root[topic]; root[topic] = 0 };
#elif defined(STAYS)
  d_step { old = root[topic]; cancelled[topic] = true };
#else
  d_step { old = root[topic]; root[topic] = old + 1 };
#endif
  do
  :: reader < POSTERS ->
     is_unfenced(reader);
     if
     :: isUnfenced -> isUnfenced = false; ask_for_fences(); break
     :: else -> reader++
     fi
  :: else -> break
  od;
  reader = 0;
#ifndef NO_SCAN
  do
  :: reader < POSTERS -> d_step { isRead = isRead || slot[reader] == old; reader++ }
  :: else -> break
  od;
#endif
  if
#ifdef ENDED
  :: !isRead ->
     freed = freed | BIT(old);
     freed = freed & ~BIT(old);
     root[topic] = old
#else
  :: !isRead -> freed = freed | BIT(old)
#endif
  :: else -> skip
  fi
}

/* A record with any mark also has FENCES: its owner clears marks only if FENCES is among them. */
active proctype Watcher() {
end:
  atomic { (duties[0] != 0 && (duties[0] & FENCES) == 0) || (duties[1] != 0 && (duties[1] & FENCES) == 0) -> assert(false) }
}

init {
  atomic {
    root[0] = FIRST_ROOT(0);
    root[1] = FIRST_ROOT(1);
#ifdef MARKED
    duties[0] = FENCES | SURELY;
    in_use[0] = true;
#endif
    in_use[1] = true;
    run Poster(0, POSTS_OF_FIRST);
    run Poster(1, POSTS_OF_SECOND);
    run Reclaimer(0);
    run Reclaimer(1)
  }
}
