// The file that a counted server and numabench both map: a header and one slot for each process of
// the server. Plain C, since it is compiled into the server's freelist.c (freelist_counted.c) as
// well as into numabench (runner/engines/postgres/sweep_counters.cc).
//
// Who writes what: numabench the header, but for `attached` and `lost`, which the server's
// processes add to; a slot's process that slot alone, without atomic read-modify-write. All other
// sides read with atomic loads and tolerate being one call behind.
//
// Reset without touching the slots: numabench raises `epoch`; a process that finds its slot's epoch
// to be another one zeroes the slot and then takes over the new epoch. Slots of an older epoch hold
// nothing of the current one and are left out of the totals.
#pragma once

#include <stdint.h>

#define NUMABENCH_SWEEP_MAGIC UINT64_C(0x7065657773626e75) /* "unbsweep" on little-endian hosts */
#define NUMABENCH_SWEEP_VERSION 1
/* The environment variable that names the file. */
#define NUMABENCH_SWEEP_VARIABLE "NUMABENCH_SWEEP_COUNTERS"

/*
 * Log-linear buckets of the ticks of a call: each power of two is cut into SUBBUCKETS equal parts.
 * Exact below 2 * SUBBUCKETS = 128; above, a bucket's upper bound exceeds each value in it by less
 * than 1/SUBBUCKETS = 1.6 %. The last bucket ends at 2^32 - 1 and takes what is longer, too: that
 * is 32 TB passed by a single allocation.
 */
#define NUMABENCH_SWEEP_SUBBUCKET_BITS 6
#define NUMABENCH_SWEEP_SUBBUCKETS (1 << NUMABENCH_SWEEP_SUBBUCKET_BITS)
#define NUMABENCH_SWEEP_BUCKETS \
  ((32 - NUMABENCH_SWEEP_SUBBUCKET_BITS + 1) * NUMABENCH_SWEEP_SUBBUCKETS)

/* Neighbours must not share a cache line, nor the pair of lines that is fetched together. */
#define NUMABENCH_SWEEP_ALIGNMENT 128

struct NumabenchSweepHeader {
  uint64_t magic;
  uint64_t version;
  uint64_t slots; /* that follow the header */
  uint64_t epoch;
  uint64_t attached; /* processes that have mapped the file on their own, not by a fork */
  uint64_t lost;     /* calls of processes whose number is not below `slots` */
} __attribute__((aligned(NUMABENCH_SWEEP_ALIGNMENT)));

/* Of one process of the server; the next process with its number goes on with it. */
struct NumabenchSweepSlot {
  uint64_t epoch;
  uint64_t calls;         /* of StrategyGetBuffer that returned */
  uint64_t sweeps;        /* calls that advanced the hand */
  uint64_t ticks;         /* advances of the hand */
  uint64_t longest;       /* most advances by one call */
  uint64_t largest_claim; /* most buffers that one advance of the hand claimed */
  uint64_t histogram[NUMABENCH_SWEEP_BUCKETS]; /* sweeps by their ticks */
} __attribute__((aligned(NUMABENCH_SWEEP_ALIGNMENT)));

static inline uint64_t numabench_sweep_file_bytes(uint64_t slots) {
  return sizeof(struct NumabenchSweepHeader) + slots * sizeof(struct NumabenchSweepSlot);
}

/* The bucket of a call of that many ticks. */
static inline unsigned numabench_sweep_bucket(uint64_t ticks) {
  unsigned shift;
  if (ticks < NUMABENCH_SWEEP_SUBBUCKETS) return (unsigned)ticks;
  if (ticks > UINT32_MAX) return NUMABENCH_SWEEP_BUCKETS - 1;
  shift = 63 - (unsigned)__builtin_clzll(ticks) - NUMABENCH_SWEEP_SUBBUCKET_BITS;
  return shift * NUMABENCH_SWEEP_SUBBUCKETS + (unsigned)(ticks >> shift);
}
