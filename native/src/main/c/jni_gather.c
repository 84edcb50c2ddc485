// SPDX-License-Identifier: Apache-2.0
/*
 * JNI of org.ddstore.nativeio.NativeGather. Address arrays are read in parts, so that no garbage
 * collection waits.
 */
#include <errno.h>
#include <jni.h>
#include <stdbool.h>
#include <string.h>

#include "gather.h"
#include "places.h"

#define MIN(a, b) ((a) < (b) ? (a) : (b))

/* Number of records of one part. */
#define PART 512

/* Number of fields of one pass over the records. */
#define FIELDS 64

/* Number of bytes copied into a Java array while the collector may not move it. */
#define PINNED_BYTES (1 << 20)

_Static_assert(sizeof(jlong) == sizeof(int64_t) && sizeof(jint) == sizeof(int32_t), "Java's integers");

/* Maximum number of chunks of a table of places. */
#define CHUNKS 256
#define PLACES_HEAD 4
#define EXTENT_LONGS 4

/* Buffers of one part. */
struct part {
  int64_t address[PART + DDS_AHEAD];
  int64_t row[PART + DDS_AHEAD];
  struct dds_records records;
};

/* Buffers of a table of places. */
struct table {
  int64_t longs[PLACES_HEAD + EXTENT_LONGS * DDS_MOST_EXTENTS + CHUNKS];
  int32_t rows_of_extents[DDS_MOST_EXTENTS];
  struct dds_places places;
};

/*
 * Reads the part of a batch that begins with first, up to most records. The elements are addresses
 * if table is NULL, and otherwise rows that the table resolves. Java may change its array at any
 * time: each element is read once, into the part, and checked there. Returns 1, 0 if an exception
 * is pending, or -ERANGE if a row is outside the table.
 */
static int take(JNIEnv *env, struct table *table, jlongArray rows, jint offset, jint first, jint count, jint most,
                struct part *part) {
  jint known = MIN(most + DDS_AHEAD, count - first);
  (*env)->GetLongArrayRegion(env, rows, offset + first, known, (jlong *)(table == NULL ? part->address : part->row));
  part->records = (struct dds_records){.address = part->address,
                                       .count = (size_t)MIN(most, known),
                                       .known = (size_t)known,
                                       .first = (size_t)first,
                                       .batch = (size_t)count};
  if ((*env)->ExceptionCheck(env)) {
    return 0;
  }
  if (table != NULL && dds_locate(&table->places, part->row, part->records.known, part->records.count,
                                  table->rows_of_extents, part->address) < part->records.known) {
    return -ERANGE;
  }
  return 1;
}

/*
 * Reads a table in the layout of Placement.java: numbers of extents and chunks, record bytes, rows;
 * extents; chunks.
 *
 * Returns 0 if the table is invalid or an exception is pending.
 */
static int read_table(JNIEnv *env, jlongArray places, struct table *table) {
  jsize longs = (*env)->GetArrayLength(env, places);
  if ((size_t)longs > sizeof table->longs / sizeof table->longs[0]) {
    return 0;
  }
  (*env)->GetLongArrayRegion(env, places, 0, longs, (jlong *)table->longs);
  if ((*env)->ExceptionCheck(env)) {
    return 0;
  }
  if (longs < PLACES_HEAD || table->longs[0] < 0 || table->longs[0] > DDS_MOST_EXTENTS || table->longs[1] < 0 ||
      table->longs[1] != longs - PLACES_HEAD - EXTENT_LONGS * table->longs[0]) {
    return 0;
  }
  size_t extents = (size_t)table->longs[0];
  table->places = (struct dds_places){.extents = (const struct dds_extent *)(table->longs + PLACES_HEAD),
                                      .extent_count = extents,
                                      .chunks = table->longs + PLACES_HEAD + EXTENT_LONGS * extents,
                                      .record_bytes = table->longs[2],
                                      .rows = table->longs[3]};
  memset(table->rows_of_extents, 0, extents * sizeof table->rows_of_extents[0]);
  return 1;
}

/* Copies the counts of rows per extent to Java. */
static void tell_rows(JNIEnv *env, const struct table *table, jintArray rows_of_extents) {
  if (table != NULL) {
    (*env)->SetIntArrayRegion(env, rows_of_extents, 0, (jsize)table->places.extent_count,
                              (const jint *)table->rows_of_extents);
  }
}

JNIEXPORT jint JNICALL Java_org_ddstore_nativeio_NativeGather_scatterFields(JNIEnv *env, jclass type, jlongArray places,
                                                                            jlongArray rows, jint offset, jint count,
                                                                            jlongArray fields, jint field_count,
                                                                            jintArray rows_of_extents) {
  struct dds_field described[FIELDS];
  struct part part;
  struct table room;
  struct table *table = NULL;
  (void)type;
  for (jint field = 0; field < field_count; field += FIELDS) {
    jint group = MIN(FIELDS, field_count - field);
    (*env)->GetLongArrayRegion(env, fields, field * 3, group * 3, (jlong *)described);
    if ((*env)->ExceptionCheck(env)) {
      return 0;
    }
    if (places != NULL) {
      table = &room;
      if (!read_table(env, places, table)) {
        return -EINVAL;
      }
    }
    for (jint first = 0; first < count; first += PART) {
      int taken = take(env, table, rows, offset, first, count, PART, &part);
      if (taken <= 0) {
        return taken;
      }
      dds_scatter(&part.records, described, (size_t)group);
    }
  }
  tell_rows(env, table, rows_of_extents);
  return 0;
}

/* Copies records into an array that is pinned during the copy. */
static jint scatter_pinned(JNIEnv *env, const struct dds_records *part, struct dds_field field, jarray array,
                           jlong array_bytes) {
  uint8_t *pinned = (*env)->GetPrimitiveArrayCritical(env, array, NULL);
  if (pinned == NULL) {
    return -ENOMEM;
  }
  field.target = (int64_t)(intptr_t)(pinned + array_bytes);
  dds_scatter(part, &field, 1);
  (*env)->ReleasePrimitiveArrayCritical(env, array, pinned, 0);
  return 0;
}

/* Copies one large record in parts. */
static jint scatter_large(JNIEnv *env, const struct dds_records *part, struct dds_field field, jarray array,
                          jlong array_bytes) {
  jint result = 0;
  int64_t end = field.offset + field.bytes;
  for (; field.offset < end && result == 0; field.offset += PINNED_BYTES, array_bytes += PINNED_BYTES) {
    struct dds_records one = {.address = part->address, .count = 1, .known = 1, .first = 0, .batch = part->batch};
    field.bytes = MIN(PINNED_BYTES, end - field.offset);
    result = scatter_pinned(env, &one, field, array, array_bytes);
  }
  return result;
}

JNIEXPORT jint JNICALL Java_org_ddstore_nativeio_NativeGather_scatterArray(JNIEnv *env, jclass type, jlongArray places,
                                                                           jlongArray rows, jint offset, jint count,
                                                                           jint field_offset, jint field_bytes,
                                                                           jarray array, jlong array_bytes,
                                                                           jintArray rows_of_extents) {
  struct part part;
  struct table room;
  struct table *table = NULL;
  struct dds_field field = {.offset = field_offset, .bytes = field_bytes, .target = 0};
  jint most = MIN(PART, field_bytes > PINNED_BYTES ? 1 : PINNED_BYTES / (field_bytes < 1 ? 1 : field_bytes));
  jint result = 0;
  (void)type;
  if (places != NULL) {
    table = &room;
    if (!read_table(env, places, table)) {
      return -EINVAL;
    }
  }
  for (jint first = 0; first < count && result == 0; first += most) {
    int taken = take(env, table, rows, offset, first, count, most, &part);
    if (taken <= 0) {
      return taken;
    }
    if (field_bytes > PINNED_BYTES) {
      result = scatter_large(env, &part.records, field, array, array_bytes + (jlong)first * field_bytes);
    } else {
      result = scatter_pinned(env, &part.records, field, array, array_bytes);
    }
  }
  tell_rows(env, table, rows_of_extents);
  return result;
}

/* Copies a part of the addresses and sizes of pieces. Returns false if a Java exception is pending. */
static bool get_pieces(JNIEnv *env, jlongArray pieces, jintArray bytes, jint first, jint part, int64_t *addresses,
                       int32_t *sizes) {
  (*env)->GetLongArrayRegion(env, pieces, first, part, (jlong *)addresses);
  if ((*env)->ExceptionCheck(env)) {
    return false;
  }
  (*env)->GetIntArrayRegion(env, bytes, first, part, (jint *)sizes);
  return !(*env)->ExceptionCheck(env);
}

JNIEXPORT jint JNICALL Java_org_ddstore_nativeio_NativeGather_packPieces(JNIEnv *env, jclass type, jlongArray pieces,
                                                                         jintArray bytes, jint count, jbyteArray target,
                                                                         jint target_offset) {
  int64_t addresses[PART];
  int32_t sizes[PART];
  jint done = target_offset;
  (void)type;
  for (jint first = 0; first < count; first += PART) {
    jint part = MIN(PART, count - first);
    if (!get_pieces(env, pieces, bytes, first, part, addresses, sizes)) {
      return 0;
    }
    uint8_t *pinned = (*env)->GetPrimitiveArrayCritical(env, target, NULL);
    if (pinned == NULL) {
      return -ENOMEM;
    }
    done = (jint)(dds_pack(addresses, sizes, (size_t)part, pinned + done) - pinned);
    (*env)->ReleasePrimitiveArrayCritical(env, target, pinned, 0);
  }
  return 0;
}

JNIEXPORT jint JNICALL Java_org_ddstore_nativeio_NativeGather_packToMemory(JNIEnv *env, jclass type, jlongArray pieces,
                                                                           jintArray bytes, jint count, jlong target) {
  int64_t addresses[PART];
  int32_t sizes[PART];
  uint8_t *end = (uint8_t *)(uintptr_t)target;
  (void)type;
  for (jint first = 0; first < count; first += PART) {
    jint part = MIN(PART, count - first);
    if (!get_pieces(env, pieces, bytes, first, part, addresses, sizes)) {
      return 0;
    }
    end = dds_pack(addresses, sizes, (size_t)part, end);
  }
  return 0;
}

/* A buffer before a Java array that must not be pinned, because pieces may come from a disk. */
struct block {
  uint8_t bytes[16 << 10];
  jint filled;
};

/* Copies a block to the array at done. Returns the position of the next block. */
static jint put_block(JNIEnv *env, struct block *block, jbyteArray target, jint done) {
  jint filled = block->filled;
  block->filled = 0;
  (*env)->SetByteArrayRegion(env, target, done, filled, (const jbyte *)block->bytes);
  return done + filled;
}

/* Copies pieces through blocks into an array, from done. Returns the end of the last full block. */
static jint pack_blocks(JNIEnv *env, const int64_t *pieces, const int32_t *bytes, jint count, struct block *block,
                        jbyteArray target, jint done) {
  for (jint i = 0; i < count; i++) {
    const uint8_t *from = (const uint8_t *)(uintptr_t)pieces[i];
    for (jint left = bytes[i]; left > 0;) {
      jint now = MIN(left, (jint)sizeof block->bytes - block->filled);
      memcpy(block->bytes + block->filled, from, (size_t)now);
      block->filled += now;
      from += now;
      left -= now;
      if (block->filled == (jint)sizeof block->bytes) {
        done = put_block(env, block, target, done);
        if ((*env)->ExceptionCheck(env)) {
          return done;
        }
      }
    }
  }
  return done;
}

JNIEXPORT jint JNICALL Java_org_ddstore_nativeio_NativeGather_packPagedPieces(JNIEnv *env, jclass type,
                                                                              jlongArray pieces, jintArray bytes,
                                                                              jint count, jbyteArray target,
                                                                              jint target_offset) {
  int64_t addresses[PART];
  int32_t sizes[PART];
  struct block block;
  jint done = target_offset;
  (void)type;
  block.filled = 0;
  for (jint first = 0; first < count; first += PART) {
    jint part = MIN(PART, count - first);
    if (!get_pieces(env, pieces, bytes, first, part, addresses, sizes)) {
      return 0;
    }
    done = pack_blocks(env, addresses, sizes, part, &block, target, done);
    if ((*env)->ExceptionCheck(env)) {
      return 0;
    }
  }
  put_block(env, &block, target, done);
  return 0;
}

/*
 * Returns all ragged fields of a schema, because those of a record are found one after the other.
 * NULL if there is no memory.
 */
static struct dds_ragged *ragged_fields(JNIEnv *env, jlongArray fields, jlong *own, jsize own_longs) {
  jsize longs = (*env)->GetArrayLength(env, fields);
  if (longs > own_longs) {
    return (struct dds_ragged *)(*env)->GetLongArrayElements(env, fields, NULL);
  }
  (*env)->GetLongArrayRegion(env, fields, 0, longs, own);
  return (*env)->ExceptionCheck(env) ? NULL : (struct dds_ragged *)own;
}

static void release_fields(JNIEnv *env, jlongArray fields, struct dds_ragged *described, const jlong *own) {
  if ((jlong *)described != own) {
    (*env)->ReleaseLongArrayElements(env, fields, (jlong *)described, JNI_ABORT);
  }
}

JNIEXPORT jint JNICALL Java_org_ddstore_nativeio_NativeGather_measure(JNIEnv *env, jclass type, jlongArray records,
                                                                      jintArray record_bytes, jint count,
                                                                      jint first_length, jlongArray fields,
                                                                      jlongArray totals) {
  int32_t sizes[PART];
  jlong own[3 * FIELDS];
  struct part part;
  int64_t wrong = -1;
  (void)type;
  size_t field_count = (size_t)(*env)->GetArrayLength(env, totals);
  struct dds_ragged *described = ragged_fields(env, fields, own, 3 * FIELDS);
  if (described == NULL) {
    return -ENOMEM;
  }
  jlong *sums = (*env)->GetLongArrayElements(env, totals, NULL);
  if (sums == NULL) {
    wrong = -ENOMEM;
    goto end;
  }
  memset(sums, 0, field_count * sizeof *sums);
  for (size_t f = 0; f < field_count; f++) {
    if (described[f].offsets != 0) {
      *(int64_t *)(uintptr_t)described[f].offsets = 0;
    }
  }
  for (jint first = 0; first < count && wrong == -1; first += PART) {
    if (!take(env, NULL, records, 0, first, count, PART, &part)) {
      break;
    }
    (*env)->GetIntArrayRegion(env, record_bytes, first, (jsize)part.records.count, (jint *)sizes);
    if ((*env)->ExceptionCheck(env)) {
      break;
    }
    wrong = dds_measure_ragged(&part.records, sizes, (size_t)first_length, described, field_count, (int64_t *)sums);
  }
  (*env)->ReleaseLongArrayElements(env, totals, sums, 0);
end:
  release_fields(env, fields, described, own);
  return (jint)wrong;
}

JNIEXPORT jint JNICALL Java_org_ddstore_nativeio_NativeGather_copyValues(JNIEnv *env, jclass type, jlongArray records,
                                                                         jint count, jint first_length,
                                                                         jlongArray fields, jint field_count) {
  jlong own[3 * FIELDS];
  struct part part;
  (void)type;
  struct dds_ragged *described = ragged_fields(env, fields, own, 3 * FIELDS);
  if (described == NULL) {
    return -ENOMEM;
  }
  for (jint first = 0; first < count; first += PART) {
    if (!take(env, NULL, records, 0, first, count, PART, &part)) {
      break;
    }
    dds_copy_ragged(&part.records, (size_t)first_length, described, (size_t)field_count);
  }
  release_fields(env, fields, described, own);
  return 0;
}
