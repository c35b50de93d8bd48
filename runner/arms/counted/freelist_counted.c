/*
 * A server's freelist.c with counters in the clock sweep: the arm's own file, unmodified, under a
 * few macros. What is counted goes to the file of sweep_layout.h.
 *
 * Contract with the builder, in src/backend/storage/buffer/ of the tree that becomes the counted
 * server:
 *   freelist.c      is renamed to freelist_arm.c;
 *   freelist.c      is written anew: a line "#define NUMABENCH_METHOD_TICK" or
 *                   "#define NUMABENCH_METHOD_HAND" and then this file;
 *   sweep_layout.h  is copied beside it.
 * A tree that this cannot be compiled with has no counted server; the compiler's error says why.
 * It needs GCC or Clang, and a 64-bit ABI that passes six words in registers (x86-64, AArch64).
 *
 * Method TICK counts the calls of ClockSweepTick(), each of which passes one buffer, also where the
 * hand itself is advanced by batches. The helper must have no parameter.
 *
 * Method HAND counts where the hand is advanced: an atomic fetch-add on something that the source
 * text calls nextVictimBuffer, one hand or one of many. It is for trees whose ClockSweepTick()
 * takes an argument, or that have none. It counts the buffers claimed, so that the sum is the way
 * of the hands whatever the size of the batch. But a batch that was claimed is visited by this and
 * by later calls: 32 buffers claimed are not yet 32 passed, and the later calls seem not to sweep.
 * The ticks of a single call, the number of calls that swept and their quotient thus mean something
 * only while no claim is larger than one buffer: `largest_claim` says so.
 */

/* Before any header, so that the prototype follows. */
#define StrategyGetBuffer numabench_arm_StrategyGetBuffer

/* clang-format off: PostgreSQL wants this header before all others */
#include "postgres.h"
/* clang-format on */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "port/atomics.h"
#include "storage/proc.h"
#include "sweep_layout.h"

/* Of the call that this process is in. */
static uint64_t numabench_ticks = 0;
static uint64_t numabench_largest_claim = 1;

#if defined(NUMABENCH_METHOD_TICK)

/* "(void)" is the definition or its prototype, "()" a use; any other form does not compile. */
#define ClockSweepTick(arguments) NUMABENCH_TICK_##arguments
#define NUMABENCH_TICK_void numabench_arm_ClockSweepTick(void)
#define NUMABENCH_TICK_ (numabench_ticks++, numabench_arm_ClockSweepTick())

#elif defined(NUMABENCH_METHOD_HAND)

/* The text of the argument is a constant: the compiler leaves nothing of the comparison. */
#define NUMABENCH_IS_HAND(text) (strstr(text, "nextVictimBuffer") != NULL)
#define NUMABENCH_FETCH_ADD(function, pointer, addend, text)        \
  __extension__({                                                   \
    __typeof__(addend) numabench_addend = (addend);                 \
    if (NUMABENCH_IS_HAND(text)) numabench_claim(numabench_addend); \
    (function)(pointer, numabench_addend);                          \
  })
/* After port/atomics.h, whose definitions must stay as they are. */
#define pg_atomic_fetch_add_u32(pointer, addend) \
  NUMABENCH_FETCH_ADD(pg_atomic_fetch_add_u32, pointer, addend, #pointer)
#define pg_atomic_fetch_add_u64(pointer, addend) \
  NUMABENCH_FETCH_ADD(pg_atomic_fetch_add_u64, pointer, addend, #pointer)

static inline void numabench_claim(uint64_t buffers) {
  numabench_ticks += buffers;
  if (buffers > numabench_largest_claim) numabench_largest_claim = buffers;
}

#else
#error "define NUMABENCH_METHOD_TICK or NUMABENCH_METHOD_HAND"
#endif

#include "freelist_arm.c"

#undef StrategyGetBuffer

/* NULL: nobody counts. */
static struct NumabenchSweepHeader* numabench_header = NULL;

/* A file of another layout is not ours to write to; numabench sees that nobody has attached. */
static struct NumabenchSweepHeader* numabench_map(int file) {
  struct stat status;
  struct NumabenchSweepHeader* header;
  if (fstat(file, &status) != 0 || status.st_size < (off_t)sizeof(*header)) return NULL;
  header = mmap(NULL, (size_t)status.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (header == MAP_FAILED) return NULL;
  if (header->magic != NUMABENCH_SWEEP_MAGIC || header->version != NUMABENCH_SWEEP_VERSION ||
      numabench_sweep_file_bytes(header->slots) > (uint64_t)status.st_size) {
    munmap(header, (size_t)status.st_size);
    return NULL;
  }
  return header;
}

/* Before main(), so that all that the postmaster forks has the mapping. */
static __attribute__((constructor)) void numabench_attach(void) {
  const char* path = getenv(NUMABENCH_SWEEP_VARIABLE);
  int file = path == NULL ? -1 : open(path, O_RDWR | O_CLOEXEC);
  if (file < 0) return;
  numabench_header = numabench_map(file);
  close(file);
  if (numabench_header != NULL)
    __atomic_fetch_add(&numabench_header->attached, 1, __ATOMIC_RELAXED);
}

/*
 * The number of this process's PGPROC, which no other living process has: no slot is claimed, none
 * is leaked by a backend that ends, and a forked child cannot go on with its parent's.
 */
static inline int64_t numabench_process_number(void) {
#if PG_VERSION_NUM >= 170000
  return MyProcNumber;
#else
  return MyProc == NULL ? -1 : MyProc->pgprocno;
#endif
}

/* One writer: a plain sum, stored so that the reader never sees half of it. */
static inline void numabench_add(uint64_t* counter, uint64_t addend) {
  __atomic_store_n(counter, *counter + addend, __ATOMIC_RELAXED);
}

static inline void numabench_raise(uint64_t* maximum, uint64_t value) {
  if (value > *maximum) __atomic_store_n(maximum, value, __ATOMIC_RELAXED);
}

static void numabench_zero(struct NumabenchSweepSlot* slot, uint64_t epoch) {
  uint64_t* counter = &slot->calls;
  uint64_t* end = slot->histogram + NUMABENCH_SWEEP_BUCKETS;
  /* No counter may be seen under the new epoch before it is zero. */
  for (; counter < end; counter++) __atomic_store_n(counter, 0, __ATOMIC_RELAXED);
  __atomic_store_n(&slot->epoch, epoch, __ATOMIC_RELEASE);
}

/* Ready for the current epoch; NULL, and the call is lost, when there is none for this process. */
static inline struct NumabenchSweepSlot* numabench_slot(void) {
  const uint64_t epoch = __atomic_load_n(&numabench_header->epoch, __ATOMIC_RELAXED);
  const int64_t number = numabench_process_number();
  struct NumabenchSweepSlot* slot;
  if (number < 0 || (uint64_t)number >= numabench_header->slots) {
    __atomic_fetch_add(&numabench_header->lost, 1, __ATOMIC_RELAXED);
    return NULL;
  }
  slot = (struct NumabenchSweepSlot*)(numabench_header + 1) + number;
  if (slot->epoch != epoch) numabench_zero(slot, epoch);
  return slot;
}

static inline void numabench_count_call(struct NumabenchSweepSlot* slot) {
  numabench_add(&slot->calls, 1);
  if (numabench_ticks == 0) return;
  numabench_add(&slot->sweeps, 1);
  numabench_add(&slot->ticks, numabench_ticks);
  numabench_raise(&slot->longest, numabench_ticks);
  numabench_raise(&slot->largest_claim, numabench_largest_claim);
  numabench_add(&slot->histogram[numabench_sweep_bucket(numabench_ticks)], 1);
}

/*
 * StrategyGetBuffer() as the rest of the server calls it, whatever its parameters are in this tree:
 * up to six words, and a word returned, go through the registers they came in. Both names are given
 * to declarations of our own by their symbols, since a call through a cast pointer is undefined
 * behaviour, for which GCC emits an abort.
 */
typedef uintptr_t numabench_word;
extern numabench_word numabench_arm(numabench_word, numabench_word, numabench_word, numabench_word,
                                    numabench_word,
                                    numabench_word) __asm__("numabench_arm_StrategyGetBuffer");
extern numabench_word numabench_forward(numabench_word, numabench_word, numabench_word,
                                        numabench_word, numabench_word,
                                        numabench_word) __asm__("StrategyGetBuffer");

numabench_word numabench_forward(numabench_word a, numabench_word b, numabench_word c,
                                 numabench_word d, numabench_word e, numabench_word f) {
  struct NumabenchSweepSlot* slot;
  numabench_word buffer;
  if (__builtin_expect(numabench_header == NULL, 0)) return numabench_arm(a, b, c, d, e, f);
  /* Page faults and zeroing come before: the buffer may be returned with its header locked. */
  slot = numabench_slot();
  numabench_ticks = 0;
  /* An error ("no unpinned buffers available") leaves by a jump past us and is not counted. */
  buffer = numabench_arm(a, b, c, d, e, f);
  if (slot != NULL) numabench_count_call(slot);
  return buffer;
}
