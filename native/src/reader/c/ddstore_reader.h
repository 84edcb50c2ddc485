// SPDX-License-Identifier: Apache-2.0
/*
 * Reads of the rows of a DDStore from any process: a store lives in the memory of Spark's executors, and a
 * handle (docs/handle.md) says where its rows are. Rows of this host are read from mapped memory, others over
 * the data ports of the executors.
 *
 * A reader is for one thread at a time; different readers are independent. The library has no threads, and holds
 * no lock between calls. After fork, a child can go on with the readers of its parent: the mappings stay, and
 * the connections are opened again by the first read that needs them. A reader that another thread of the parent
 * was using at the fork must not be used in the child, which can only abandon it.
 *
 * All functions return DDS_OK or an error, and describe the error in *error, which may be NULL.
 */
#ifndef DDSTORE_READER_H
#define DDSTORE_READER_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define DDS_API __attribute__((visibility("default")))

/* The number of this interface: a library is for programs that were compiled with the same one. */
#define DDS_READER_VERSION 1
DDS_API int dds_reader_version(void);

enum dds_code {
  DDS_OK = 0,
  DDS_INVALID_ARGUMENT = 1, /* an argument is outside of its legal range */
  DDS_INVALID_HANDLE = 2,   /* the text is no handle, of another version, or contradicts the rows */
  DDS_STORE_GONE = 3,       /* the store was dropped */
  DDS_EXPIRED = 4,          /* the grant of the handle has ended by time */
  DDS_REVOKED = 5,          /* the grant of the handle was revoked */
  DDS_REFUSED = 6,          /* an executor does not accept the key, or is not the one of the handle */
  DDS_LOST = 7,             /* no process that has the rows can be reached: executors or the application have ended */
  DDS_DEADLINE = 8,         /* the rows have not arrived in time */
  DDS_TOO_SMALL = 9,        /* the memory for ragged values does not suffice */
  DDS_OUT_OF_MEMORY = 10,
  DDS_SYSTEM = 11 /* a call of the system failed */
};

/* text: one line, empty without an error. It never contains a key. */
struct dds_error {
  int code;
  char text[500];
};

enum dds_kind {
  DDS_FIXED = 1,  /* each row has the shape */
  DDS_RAGGED = 2, /* each row has any number of elements of the shape */
  DDS_STRING = 3, /* UTF-8 */
  DDS_BYTES = 4
};

/* The codes of the segment format. */
enum dds_dtype {
  DDS_BOOL = 1,
  DDS_INT8 = 2,
  DDS_UINT8 = 3,
  DDS_INT16 = 4,
  DDS_INT32 = 5,
  DDS_INT64 = 6,
  DDS_FLOAT16 = 7,
  DDS_BFLOAT16 = 8,
  DDS_FLOAT32 = 9,
  DDS_FLOAT64 = 10
};

#define DDS_MAX_DIMENSIONS 8

/*
 * A field of a record.
 *
 * name           UTF-8, valid as long as the description
 * dimensions     number of them; shape: the shape of a fixed field, or of an element of a ragged one
 * element_bytes  size of one row of a fixed field, or of one element of a ragged field
 */
struct dds_field_info {
  const char *name;
  enum dds_kind kind;
  enum dds_dtype dtype;
  int dimensions;
  int64_t shape[DDS_MAX_DIMENSIONS];
  int64_t element_bytes;
};

/* Whether and how the rows of a store were reached so far. */
struct dds_reach {
  int64_t segments;        /* of one copy */
  int64_t mapped_segments; /* of these, read from mapped memory */
  int64_t mapped_rows;     /* rows read from mapped memory so far */
  int64_t remote_rows;     /* rows received over data ports so far */
};

struct dds_reader;

/*
 * Memory for a field of a batch of n rows, owned by the caller.
 *
 * field         number of the field
 * values        fixed field: n * element_bytes bytes. Others: the elements of all rows, one row after the other
 * value_bytes   size of values
 * used_bytes    is set to the bytes that are used, or needed after DDS_TOO_SMALL
 * offsets       NULL for a fixed field; else n + 1 numbers: row i has the elements offsets[i] to offsets[i + 1]
 * cast          0, or the type to convert to: DDS_FLOAT32 or DDS_BFLOAT16, of numbers but float16 and int64.
 *               Sizes are then those of the new type
 * scale         with a cast, the factor of all values: finite, not 0; the product is in float32
 */
struct dds_target {
  int field;
  void *values;
  size_t value_bytes;
  size_t used_bytes;
  int64_t *offsets;
  int cast;
  float scale;
};

/*
 * Opens a reader: reads the handle, and maps the rows of this host. Contacts no other process.
 *
 * json     text of a handle, of json_bytes bytes
 * flags    0, or DDS_PORTS_ONLY to map nothing
 * reader   set to NULL after an error
 */
#define DDS_PORTS_ONLY 1
DDS_API int dds_reader_open(const char *json, size_t json_bytes, int flags, struct dds_reader **reader,
                            struct dds_error *error);

/* Opens a reader of a handle in a file, which dds_reader_refresh can read again. */
DDS_API int dds_reader_open_file(const char *path, int flags, struct dds_reader **reader, struct dds_error *error);

/*
 * Reads the file of the handle again: after an append, a repair, or the loss of an executor, a file that the
 * driver keeps up to date has the new rows and places. After an error the reader is as before.
 *
 * changed  NULL, or where to write 1 if the handle has changed, else 0. Names and fields are then to be asked again
 */
DDS_API int dds_reader_refresh(struct dds_reader *reader, int *changed, struct dds_error *error);

/* Closes a reader, its mappings and connections. NULL: no effect. */
DDS_API void dds_reader_close(struct dds_reader *reader);

/*
 * The name of the store and the digest of its rows for states ("" if it is not known), valid until the reader is
 * closed or refreshed; its rows and its fields.
 */
DDS_API const char *dds_reader_name(const struct dds_reader *reader);
DDS_API const char *dds_reader_digest(const struct dds_reader *reader);
DDS_API int64_t dds_reader_rows(const struct dds_reader *reader);
DDS_API int dds_reader_fields(const struct dds_reader *reader);

/* The description of a field, valid until the reader is closed or refreshed; NULL if there is no such field. */
DDS_API const struct dds_field_info *dds_reader_field(const struct dds_reader *reader, int field);

DDS_API struct dds_reach dds_reader_reach(const struct dds_reader *reader);

/*
 * Reads rows in any order, also several times. Either all targets are written as of one version of each row, or
 * an error is returned and their content is undefined.
 *
 * indices      global indices of count rows
 * targets      at most one for each field
 * deadline_ms  longest duration in milliseconds, at least 1
 */
DDS_API int dds_reader_get_batch(struct dds_reader *reader, const int64_t *indices, size_t count,
                                 struct dds_target *targets, size_t target_count, int64_t deadline_ms,
                                 struct dds_error *error);

/*
 * The structures of Arrow's C data interface, https://arrow.apache.org/docs/format/CDataInterface.html, which also
 * other headers define.
 */
#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE

#define ARROW_FLAG_DICTIONARY_ORDERED 1
#define ARROW_FLAG_NULLABLE 2
#define ARROW_FLAG_MAP_KEYS_SORTED 4

struct ArrowSchema {
  const char *format;
  const char *name;
  const char *metadata;
  int64_t flags;
  int64_t n_children;
  struct ArrowSchema **children;
  struct ArrowSchema *dictionary;
  void (*release)(struct ArrowSchema *);
  void *private_data;
};

struct ArrowArray {
  int64_t length;
  int64_t null_count;
  int64_t offset;
  int64_t n_buffers;
  int64_t n_children;
  const void **buffers;
  struct ArrowArray **children;
  struct ArrowArray *dictionary;
  void (*release)(struct ArrowArray *);
  void *private_data;
};
#endif

/* A batch in the memory layout of Arrow. It never changes, and several threads can use it. */
struct dds_arrow;

/*
 * Reads rows as dds_reader_get_batch does, into memory of a batch.
 *
 * fields  numbers of the fields to read, each once
 */
DDS_API int dds_arrow_read(struct dds_reader *reader, const int64_t *indices, size_t count, const int *fields,
                           size_t field_count, int64_t deadline_ms, struct dds_arrow **batch, struct dds_error *error);

/* Frees a batch, except the memory that exported arrays have. NULL: no effect. */
DDS_API void dds_arrow_close(struct dds_arrow *batch);

/*
 * Writes the type of a batch, a struct of its fields. A shape of one dimension is a list of fixed size, one of
 * several the extension arrow.fixed_shape_tensor; a ragged field a large list; bfloat16 is uint16. The caller
 * releases it.
 */
DDS_API int dds_arrow_schema(const struct dds_arrow *batch, struct ArrowSchema *schema, struct dds_error *error);

/* Writes the rows of a batch, a struct array that shares its memory. The caller releases it, on any thread. */
DDS_API int dds_arrow_array(struct dds_arrow *batch, struct ArrowArray *array, struct dds_error *error);

/* PyCapsule_New and PyCapsule_GetPointer. */
typedef void *(*dds_capsule_new)(void *pointer, const char *name, void (*destructor)(void *capsule));
typedef void *(*dds_capsule_pointer)(void *capsule, const char *name);

/* Gives the functions of the Python of this process, before the first capsule. */
DDS_API void dds_arrow_use_python(dds_capsule_new make, dds_capsule_pointer pointer);

/* Returns a new capsule of Arrow's PyCapsule interface; NULL without memory. The caller holds the lock of Python. */
DDS_API void *dds_arrow_schema_capsule(const struct dds_arrow *batch);
DDS_API void *dds_arrow_array_capsule(struct dds_arrow *batch);

/*
 * Samplers: the rows that each rank reads in an epoch, in batches of equal size. Numbers, descriptions, states and
 * receipts are those of Java (org.ddstore.sampling), so that a training can move between languages, and between
 * numbers of ranks. Pure arithmetic: no reader is needed. docs/guide/samplers.md describes the samplers.
 *
 * A sampler and a subset never change, and can be used by several threads. An epoch or a coverage is for one thread
 * at a time. Each is freed by its own function, for which NULL has no effect. Arrays are copied.
 */
struct dds_sampler;
struct dds_subset;
struct dds_epoch;
struct dds_coverage;

/* Rows by index. */
DDS_API int dds_sampler_sequential(struct dds_sampler **sampler, struct dds_error *error);

/* All rows in random order: an order is computed, and has no list of rows. */
DDS_API int dds_sampler_shuffled(int64_t seed, struct dds_sampler **sampler, struct dds_error *error);

/*
 * Blocks of neighbouring rows in random order, with the rows shuffled within windows of several blocks.
 *
 * block_rows     rows per block, in [1, 2^31)
 * window_blocks  blocks per window, in [1, 2^31); a window must be a multiple of the batch
 */
DDS_API int dds_sampler_chunked(int64_t seed, int64_t block_rows, int64_t window_blocks, struct dds_sampler **sampler,
                                struct dds_error *error);

/*
 * Rows drawn in proportion to weights.
 *
 * weights      one for each of count rows, in [0, infinity)
 * draws        samples per epoch, at least 0
 * replacement  0: each row at most once in an epoch, and at most as many draws as rows with a weight above 0
 */
DDS_API int dds_sampler_weighted(int64_t seed, const double *weights, size_t count, int64_t draws, int replacement,
                                 struct dds_sampler **sampler, struct dds_error *error);

/*
 * Rows of all classes equally often, or in proportion to the weights of the classes.
 *
 * labels       class of each of count rows, from 0
 * weights      share of each of weight_count classes, in [0, infinity), 0 for a class without rows. NULL: equal ones
 * block_rows   consecutive samples of one class, in [1, 2^31)
 * draws        samples per epoch with replacement, at least 0; ignored without
 * replacement  0: no row is repeated in an epoch, whose length the scarcest class determines
 */
DDS_API int dds_sampler_class_balanced(int64_t seed, const int32_t *labels, size_t count, const double *weights,
                                       size_t weight_count, int64_t block_rows, int64_t draws, int replacement,
                                       struct dds_sampler **sampler, struct dds_error *error);

/*
 * The samples of a sampler that belong to a subset, numbered anew from 0 in ascending order. Of a sampler that has a
 * subset already: the rows of both. The subset is copied; the sampler without any subset is borrowed, and must not be
 * freed before this one.
 */
DDS_API int dds_sampler_within(const struct dds_sampler *sampler, const struct dds_subset *subset,
                               struct dds_sampler **within, struct dds_error *error);

DDS_API void dds_sampler_free(struct dds_sampler *sampler);

/* A subset of ranges [first, end): bounds has two numbers for each range, all in ascending order from 0. */
DDS_API int dds_subset_of_ranges(const int64_t *bounds, size_t ranges, struct dds_subset **subset,
                                 struct dds_error *error);

/* A subset of single rows, in ascending order, each once. */
DDS_API int dds_subset_of_rows(const int64_t *rows, size_t count, struct dds_subset **subset, struct dds_error *error);

DDS_API int64_t dds_subset_size(const struct dds_subset *subset);

DDS_API void dds_subset_free(struct dds_subset *subset);

/* Which rank reads which samples. */
enum dds_distribution {
  DDS_SLICES = 0,    /* contiguous slices of each global batch, of an order that all ranks share */
  DDS_STRIDED = 1,   /* every world-th sample of each global batch of this order */
  DDS_CONTIGUOUS = 2 /* contiguous parts of the rows, each in an order of its own */
};

/* The treatment of samples at the end that do not fill a global batch. */
enum dds_tail {
  DDS_DROPPED = 0, /* left out, others in each epoch */
  DDS_KEPT = 1,    /* smaller batches, which can be empty on some ranks */
  DDS_PADDED = 2   /* repeated samples fill the batches; they have weight 0 */
};

/*
 * How batches are cut.
 *
 * sampler            borrowed
 * batch_size         samples of a batch of each rank; 0 if the next is given
 * global_batch_size  samples of a batch of all ranks together, at least one for each: an epoch is then the same for
 *                    every number of ranks; 0 if batch_size is given
 */
struct dds_batching {
  const struct dds_sampler *sampler;
  int64_t batch_size;
  int64_t global_batch_size;
  enum dds_distribution distribution;
  enum dds_tail tail;
};

/* Bytes of a description, with the zero byte at its end. */
#define DDS_MAX_DESCRIPTION 256

/* Describes everything that the global batches of a number of ranks depend on, such as "shuffled(42)/512". */
DDS_API int dds_batching_describe(const struct dds_batching *batching, int world, char text[DDS_MAX_DESCRIPTION],
                                  struct dds_error *error);

/*
 * Opens the batches of a rank in an epoch: without communication, as all ranks compute the same. They can be
 * computed in any order. The epoch borrows the sampler. Weights without replacement are sorted here.
 *
 * rows    number of rows of the store
 * rank    in [0, world)
 * number  of the epoch, counted from 0
 */
DDS_API int dds_epoch_open(const struct dds_batching *batching, int64_t rows, int rank, int world, int64_t number,
                           struct dds_epoch **epoch, struct dds_error *error);

DDS_API void dds_epoch_close(struct dds_epoch *epoch);

/* The number of batches of this and every other rank. */
DDS_API int64_t dds_epoch_batches(const struct dds_epoch *epoch);

/* The largest number of samples of a batch of this rank. */
DDS_API int64_t dds_epoch_max_size(const struct dds_epoch *epoch);

/* The number of samples that the sampler chooses from, and of those in an epoch of all ranks. */
DDS_API int64_t dds_epoch_samples(const struct dds_epoch *epoch);
DDS_API int64_t dds_epoch_positions(const struct dds_epoch *epoch);

/*
 * A batch of a rank.
 *
 * size         samples, with padding at the end
 * padding      samples at the end that only pad the batch, and have weight 0
 * global_size  samples of all ranks together, without padding
 */
struct dds_batch {
  int64_t size;
  int64_t padding;
  int64_t global_size;
};

/*
 * Writes the samples of a batch.
 *
 * batch    number of the batch, in [0, batches)
 * info     description of the batch, or NULL
 * samples  receives the numbers of the samples, for the coverage: dds_epoch_max_size elements, or NULL
 * rows     receives the global indices of their rows, as samples, or NULL; both are equal without a subset, and can
 *          be one array
 */
DDS_API int dds_epoch_batch(struct dds_epoch *epoch, int64_t batch, struct dds_batch *info, int64_t *samples,
                            int64_t *rows, struct dds_error *error);

/* Choices of one kind, as UTF-8 in any order; count 0: none. */
struct dds_choice {
  const char *const *texts;
  size_t count;
};

/*
 * A position in an epoch, and what it is a position in. Texts are UTF-8.
 *
 * batch     number of completed batches, which is the number of the next one
 * rows      number of rows of the store
 * version   number of updates of rows since they were loaded
 * sampling  text of dds_batching_describe
 * schema    text of dds_schema_digest
 * digest    digest of the rows, of which 16 digits are kept; "" if it is not known
 * fields    names of the fields that are read; none: all
 * casts     a text for each cast; shapes: a text for each padding or densification
 */
struct dds_state {
  int64_t epoch;
  int64_t batch;
  int64_t rows;
  int64_t version;
  const char *sampling;
  const char *schema;
  const char *digest;
  struct dds_choice fields;
  struct dds_choice casts;
  struct dds_choice shapes;
};

/* Bytes of a state with a text of dds_batching_describe, with the zero byte at its end. */
#define DDS_MAX_STATE 512

/* Writes a state as one line of JSON. */
DDS_API int dds_state_write(const struct dds_state *state, char *json, size_t json_bytes, struct dds_error *error);

/*
 * Reads a state of Java, or of dds_state_write, and rejects it if it was changed since, or is of other rows or
 * another configuration than those of here. The text may be hostile. The number of ranks may differ if the texts of
 * sampling are equal.
 *
 * here   its epoch and batch are ignored
 * epoch  receives the number of the epoch to continue with; batch: that of its next batch
 */
DDS_API int dds_state_resume(const char *json, size_t json_bytes, const struct dds_state *here, int64_t *epoch,
                             int64_t *batch, struct dds_error *error);

/* Writes the digest of the fields of a store, as states have it: 8 digits and a zero byte. */
DDS_API int dds_schema_digest(const struct dds_reader *reader, char digest[9], struct dds_error *error);

/*
 * A summary of the samples that a rank has received of an epoch: sums that all ranks add up, element by element and
 * modulo 2^64. Then every element but the first three is zero if each sample came exactly once.
 */
DDS_API int dds_coverage_open(const struct dds_epoch *epoch, struct dds_coverage **coverage, struct dds_error *error);

DDS_API void dds_coverage_close(struct dds_coverage *coverage);

/*
 * Counts samples as given to the consumer.
 *
 * samples  of dds_epoch_batch; the last padding of these count samples only pad the batch
 */
DDS_API int dds_coverage_deliver(struct dds_coverage *coverage, const int64_t *samples, size_t count, size_t padding,
                                 struct dds_error *error);

/* The number of sums. */
DDS_API size_t dds_coverage_size(const struct dds_coverage *coverage);

/*
 * Writes this rank's sums of an epoch: the samples that were delivered, its part of those that no rank reads, and
 * less its part of all samples. Takes some nanoseconds for each sample of this part.
 *
 * epoch  the epoch that the coverage was opened for, or an equal one
 * from   batches that count as delivered before the first, if an epoch was resumed
 * sums   dds_coverage_size numbers
 */
DDS_API int dds_coverage_sums(const struct dds_coverage *coverage, struct dds_epoch *epoch, int64_t from, int64_t *sums,
                              struct dds_error *error);

/*
 * The result of a check that each sample of an epoch came exactly once. Samples that the batches leave out by plan
 * count as received.
 *
 * exact      1 if each sample was delivered, or dropped by plan, exactly once
 * delivered  samples without padding; dropped: samples left out by plan; padded: samples of weight 0
 * repeated   the least number of repeated samples; lost: the least number of those that did not come
 * text       one line that states the numbers, and the samples or ranges that are wrong
 */
struct dds_coverage_receipt {
  int exact;
  int64_t samples;
  int64_t delivered;
  int64_t dropped;
  int64_t padded;
  int64_t repeated;
  int64_t lost;
  char text[1200];
};

/* Evaluates the sums of all ranks. */
DDS_API void dds_coverage_receipt(const struct dds_coverage *coverage, const int64_t *sums,
                                  struct dds_coverage_receipt *receipt);

#ifdef __cplusplus
}
#endif

#endif
