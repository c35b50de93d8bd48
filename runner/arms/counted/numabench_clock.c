/*
 * numabench_clock(): the way that the server's clock hand has gone since the server was started, in
 * buffers: complete passes × NBuffers + position. For any server whose headers are at hand; it
 * needs no preload and costs nothing until it is called:
 *
 *   CREATE FUNCTION numabench_clock() RETURNS bigint AS '…/numabench_clock' LANGUAGE C STRICT;
 *
 * The server must export StrategySyncStart with the arguments below. A tree that has given it
 * others (hands by partition) does not compile this file: calling it anyway would crash the server.
 */
/* clang-format off: PostgreSQL wants this header before all others */
#include "postgres.h"
/* clang-format on */
#include "fmgr.h"
#include "miscadmin.h"
#include "storage/buf_internals.h"

PG_MODULE_MAGIC;

PG_FUNCTION_INFO_V1(numabench_clock);

_Static_assert(__builtin_types_compatible_p(__typeof__(StrategySyncStart), int(uint32*, uint32*)),
               "StrategySyncStart has other arguments in this tree");

Datum numabench_clock(PG_FUNCTION_ARGS) {
  uint32 passes;
  /* The second argument would reset the counter that the background writer works by. */
  const int position = StrategySyncStart(&passes, NULL);
  PG_RETURN_INT64((int64)passes * NBuffers + position);
}
