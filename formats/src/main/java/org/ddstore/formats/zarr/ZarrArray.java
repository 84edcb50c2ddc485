// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.zarr;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.Closeable;
import java.io.EOFException;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import org.ddstore.formats.ElementType;
import org.ddstore.formats.FileReadException;
import org.ddstore.formats.FormatException;
import org.ddstore.formats.InputFile;
import org.ddstore.formats.ReadBudget;

/**
 * An open array. It keeps the decoded chunks that were used last, 64 MiB by default. Complex
 * numbers are pairs of numbers: they add a last axis of length 2. Not thread-safe.
 */
public final class ZarrArray implements Closeable {
  /** Default limit of the decoded chunks that are kept, in bytes. */
  public static final long CACHE_BYTES = 64 << 20;

  /** Maximum number of misplaced chunks that a warning about a group names. */
  public static final int MAX_NAMED_FILES = 100;

  /** Maximum number of chunks whose stored sizes are added up to check the size of values. */
  private static final int MAX_CHECKED_CHUNKS = 10_000;

  private final NodeFiles files;
  private final NodeFiles.Kind kind;
  private final String json;
  private final ArrayMetadata metadata;
  private final ChunkGrid grid;
  private final ChunkSource source;
  private final long[] shape;
  private final int[] chunk;
  private final ReaderMemory memory;
  private ChunkCache cache;

  /** Whether the current read has found the metadata beside a missing chunk. */
  private boolean isArrayFound;

  private ZarrArray(
      NodeFiles files,
      NodeFiles.Kind kind,
      String json,
      ArrayMetadata metadata,
      ReaderMemory memory) {
    this.files = files;
    this.kind = kind;
    this.json = json;
    this.metadata = metadata;
    this.grid = metadata.grid();
    this.memory = memory;
    this.cache = memory.cache(CACHE_BYTES);
    this.source =
        metadata.index() == null
            ? new ChunkSource.Files(files.folder(), metadata.files(), memory)
            : new ShardedChunks(
                files.folder(), metadata.files(), metadata.chunk(), metadata.index(), memory);
    boolean isComplex = metadata.codecs().type().form() == ZarrType.Form.COMPLEX;
    int dimensions = grid.dimensions() + (isComplex ? 1 : 0);
    this.shape = Arrays.copyOf(grid.shape(), dimensions);
    this.chunk = Arrays.copyOf(metadata.chunk(), dimensions);
    if (isComplex) {
      shape[dimensions - 1] = 2;
      chunk[dimensions - 1] = 2;
    }
  }

  /**
   * Opens an array.
   *
   * @param folder folder of the array
   * @throws FormatException if it is not an array, or one with unsupported codecs or types
   * @throws IOException if it cannot be read
   */
  public static ZarrArray open(InputFile folder) throws IOException {
    return open(folder, new ReaderMemory());
  }

  /** Opens an array whose chunks count in the memory of a reader. */
  static ZarrArray open(InputFile folder, ReaderMemory memory) throws IOException {
    NodeFiles files = new NodeFiles(folder);
    NodeFiles.Kind kind = files.kind();
    if (!kind.isArray()) {
      throw new FormatException(
          folder.path(),
          "not a zarr array: the folder has no .zarray and no zarr.json of an array");
    }
    String name = NodeFiles.arrayFile(kind);
    String json = files.text(name).orElseThrow(() -> new FileNotFoundException(files.path(name)));
    JsonNode parsed = files.parse(name, json);
    try {
      ArrayMetadata metadata =
          kind == NodeFiles.Kind.ARRAY_V3 ? MetadataV3.parse(parsed) : MetadataV2.parse(parsed);
      return new ZarrArray(files, kind, json, metadata, memory);
    } catch (Unsupported e) {
      throw new FormatException(files.path(name), "%s: %s".formatted(e.field(), e.getMessage()), e);
    }
  }

  /**
   * Looks for files that look like chunks, but that no key of the metadata names. A reader returns
   * the fill value in their place.
   *
   * @return their paths relative to the array, of the first files of the folder only
   * @throws FormatException if there are some, and no chunk is under its key
   * @throws IOException if the folder cannot be listed
   */
  public List<String> misplacedChunks() throws IOException {
    return MisplacedChunks.of(files.folder(), metadata.files());
  }

  /** Sets the limit of the decoded chunks that are kept, in bytes; the last one is always kept. */
  public ZarrArray cacheBytes(long maxBytes) {
    cache = memory.cache(maxBytes);
    return this;
  }

  /** {@return the path of the folder} */
  public String path() {
    return files.folder().path();
  }

  /** {@return the attributes; an empty object if there are none} */
  public JsonNode attributes() throws IOException {
    return files.attributes(kind);
  }

  /** {@return the lengths of the axes} */
  public long[] shape() {
    return shape.clone();
  }

  /**
   * {@return the lengths of a chunk, which is decoded as a whole; of a chunk in a shard with
   * shards}
   */
  public int[] chunkShape() {
    return chunk.clone();
  }

  /** {@return the type of the elements; TEXT for texts} */
  public ElementType elementType() {
    return metadata.codecs().type().element();
  }

  String json() {
    return json;
  }

  /**
   * Reads numbers of a box.
   *
   * @param start first element in each axis
   * @param lengths lengths of the box, each at least 0
   * @return a new buffer of the elements in C order, in the byte order of the array, which {@link
   *     ElementType#decode} takes
   * @throws FormatException if a chunk is damaged, or missing without a fill value
   */
  public ByteBuffer read(long[] start, int... lengths) throws IOException {
    requireInside(start, lengths);
    memory.endBatch();
    memory.addValues(this, start, lengths);
    ByteBuffer to = allocate(count(lengths));
    copy(start, lengths, to, 0);
    return to;
  }

  /**
   * Reads numbers of rows, for a caller that reads all rows once in ascending order: chunks are not
   * kept after their last row, and rows that are side by side in one chunk are not copied.
   *
   * @return a buffer as of {@link #read}, whose content must not be changed
   */
  ByteBuffer readForward(long[] start, int... lengths) throws IOException {
    requireInside(start, lengths);
    if (isInOneChunk(start, lengths)) {
      long[] at = new long[grid.dimensions()];
      at[0] = start[0] / chunk[0];
      boolean isLast = endsChunk(start[0] + lengths[0], at[0]);
      isArrayFound = false;
      Chunk rows = chunk(isLast, at);
      if (rows.strides()[0] > 0) { // else it is the fill value
        ByteBuffer numbers = (ByteBuffer) rows.elements();
        int bytes = count(lengths) * elementType().bytes();
        int first = (int) (start[0] % chunk[0]) * (bytes / lengths[0]);
        if (isLast) { // only the values hold it
          memory.addValues(path(), rows.bytes());
        }
        return numbers.slice(first, bytes).order(numbers.order());
      }
    }
    memory.addValues(this, start, lengths);
    ByteBuffer to = allocate(count(lengths));
    copy(start, lengths, to, 0, true);
    return to;
  }

  /** Returns whether rows are rows of one chunk in C order, which is complete in the other axes. */
  private boolean isInOneChunk(long[] start, int... lengths) {
    boolean isOne =
        lengths[0] > 0
            && start[0] % chunk[0] + lengths[0] <= chunk[0]
            && Arrays.equals(
                metadata.codecs().strides(metadata.chunk()), StridedCopy.rowMajor(lengths));
    for (int d = 1; isOne && d < lengths.length; d++) {
      isOne = start[d] == 0 && lengths[d] == chunk[d];
    }
    return isOne;
  }

  /** Returns whether rows before an end are the last ones of a chunk. */
  private boolean endsChunk(long end, long coordinate) {
    return end == shape[0] || end - coordinate * chunk[0] >= chunk[0];
  }

  /**
   * Reads texts of a box, in C order.
   *
   * @throws FormatException as {@link #read}
   */
  public String[] readTexts(long[] start, int... lengths) throws IOException {
    if (elementType() != ElementType.TEXT) {
      throw new IllegalStateException("not texts, but %s: %s".formatted(elementType(), path()));
    }
    requireInside(start, lengths);
    memory.endBatch();
    return readTextsInBatch(start, lengths);
  }

  /** Reads texts as {@link #readTexts}, beside other values of a row. */
  String[] readTextsInBatch(long[] start, int... lengths) throws IOException {
    memory.addValues(this, start, lengths);
    String[] to = new String[count(lengths)];
    copy(start, lengths, to, 0);
    return to;
  }

  /** Returns the number of elements of a box, for whose bytes there is room. */
  private static int count(int... lengths) {
    return Arrays.stream(lengths).reduce(1, (a, b) -> a * b);
  }

  /** Returns the size of the values of a box in bytes; of texts without their characters. */
  long bytes(int... lengths) {
    long bytes = elementType() == ElementType.TEXT ? Long.BYTES : elementType().bytes();
    for (int length : lengths) {
      bytes = length > 0 && bytes > Long.MAX_VALUE / length ? Long.MAX_VALUE : bytes * length;
    }
    return bytes;
  }

  /** Returns whether the first chunks of a box, as stored, can be the source of {@code bytes}. */
  boolean isBacked(long bytes, long[] start, int... lengths) throws IOException {
    ChunksOfBox chunks = new ChunksOfBox(start, lengths);
    long stored = 0;
    int checked = 0;
    do {
      stored += source.length(chunks.at);
      checked++;
    } while (stored < bytes / ReadBudget.DEFLATE_RATIO
        && checked < MAX_CHECKED_CHUNKS
        && chunks.next());
    return stored >= bytes / ReadBudget.DEFLATE_RATIO;
  }

  /** The coordinates of the chunks of a box, which is not empty, in C order. */
  private final class ChunksOfBox {
    private final long[] first = new long[grid.dimensions()];
    private final long[] last = new long[grid.dimensions()];
    private final long[] at;

    ChunksOfBox(long[] start, int... lengths) {
      long count = 1; // at most the number of elements
      for (int d = 0; d < first.length; d++) {
        first[d] = start[d] / chunk[d];
        last[d] = (start[d] + lengths[d] - 1) / chunk[d];
        count *= last[d] - first[d] + 1;
      }
      if (count > ReadBudget.MAX_CHUNKS) {
        throw FormatException.of(
            path(),
            "box " + Arrays.toString(lengths),
            "has %,d chunks, more than the limit of %,d of one read: store the array in larger chunks"
                .formatted(count, ReadBudget.MAX_CHUNKS));
      }
      at = first.clone();
    }

    /** Moves to the next chunk; returns false after the last one. */
    boolean next() {
      int d = at.length - 1;
      while (d >= 0 && at[d] == last[d]) {
        at[d] = first[d];
        d--;
      }
      if (d < 0) {
        return false;
      }
      at[d]++;
      return true;
    }
  }

  /** Returns a buffer for numbers in the byte order of the array. */
  ByteBuffer allocate(int count) {
    if (elementType() == ElementType.TEXT) {
      throw new IllegalStateException("texts, not numbers: " + path());
    }
    return ByteBuffer.allocate(count * elementType().bytes())
        .order(metadata.codecs().type().order());
  }

  /**
   * Copies the elements of a box.
   *
   * @param to buffer of {@link #allocate}, or a {@code String[]} for texts
   * @param offset place of the first element in it
   */
  void copy(long[] start, int[] lengths, Object to, int offset) throws IOException {
    copy(start, lengths, to, offset, false);
  }

  private void copy(long[] start, int[] lengths, Object to, int offset, boolean isLast)
      throws IOException {
    requireInside(start, lengths);
    if (count(lengths) == 0) {
      return;
    }
    isArrayFound = false;
    int[] toStrides = StridedCopy.rowMajor(lengths);
    ChunksOfBox chunks = new ChunksOfBox(start, lengths);
    do {
      boolean isDone = isLast && endsChunk(start[0] + lengths[0], chunks.at[0]);
      copyChunk(chunk(isDone, chunks.at), chunks.at, start, lengths, to, offset, toStrides);
    } while (chunks.next());
  }

  private void requireInside(long[] start, int... lengths) {
    boolean isInside = start.length == shape.length && lengths.length == shape.length;
    for (int d = 0; isInside && d < shape.length; d++) {
      isInside = lengths[d] >= 0 && start[d] >= 0 && start[d] <= shape[d] - lengths[d];
    }
    if (!isInside) {
      throw new IndexOutOfBoundsException(
          "box %s at %s outside %s of %s"
              .formatted(
                  Arrays.toString(lengths),
                  Arrays.toString(start),
                  Arrays.toString(shape),
                  path()));
    }
  }

  /** Copies the part of a box that is in one chunk. */
  private void copyChunk(
      Chunk from,
      long[] coordinates,
      long[] start,
      int[] lengths,
      Object to,
      int offset,
      int... toStrides) {
    int[] part = new int[shape.length];
    int source = 0;
    int target = offset;
    for (int d = 0; d < shape.length; d++) {
      long origin =
          d < coordinates.length ? coordinates[d] * chunk[d] : 0; // pairs are in one chunk
      long low = Math.max(start[d], origin);
      part[d] = (int) Math.min(start[d] + lengths[d] - low, chunk[d] - (low - origin));
      source += (int) (low - origin) * from.strides()[d];
      target += (int) (low - start[d]) * toStrides[d];
    }
    if (from.elements() instanceof String[] texts) {
      memory.addValues(path(), from.bytes() / texts.length * count(part));
    }
    new StridedCopy(part, from.strides(), toStrides)
        .copy(from.elements(), source, to, target, elementType().bytes());
  }

  private Chunk chunk(boolean isLast, long... coordinates) throws IOException {
    long number = grid.number(coordinates);
    Chunk kept = cache.get(number);
    if (kept != null) {
      if (isLast && kept.elements() != metadata.fill()) {
        cache.remove(number);
      }
      return kept;
    }
    ByteBuffer encoded = encoded(coordinates);
    Chunk chunk;
    try {
      chunk = encoded == null ? missing(coordinates) : decode(encoded, coordinates);
    } catch (FileNotFoundException e) {
      throw e;
    } catch (IOException e) {
      throw new FormatException(source.path(coordinates), e.getMessage(), e);
    }
    if (!isLast || chunk.elements() == metadata.fill()) {
      cache.put(number, chunk);
    }
    return chunk;
  }

  private Chunk decode(ByteBuffer encoded, long... coordinates) throws IOException {
    CodecChain codecs = metadata.codecs();
    codecs.requireReachable(encoded.remaining(), metadata.chunk());
    long working = codecs.workingBytes(metadata.chunk());
    cache.makeRoom(working);
    memory.require(source.path(coordinates), "the decoded chunk", encoded.remaining() + working);
    return codecs.decode(encoded, metadata.chunk(), memory.freeBytes() - encoded.remaining());
  }

  private ByteBuffer encoded(long... coordinates) throws FileNotFoundException {
    try {
      return source.read(coordinates);
    } catch (FileNotFoundException e) {
      throw e;
    } catch (EOFException e) {
      throw new FormatException(source.path(coordinates), "truncated: " + e.getMessage(), e);
    } catch (IOException e) {
      throw new FileReadException(source.path(coordinates), e);
    }
  }

  /** Returns the fill value in place of a missing chunk, if the array itself is there. */
  private Chunk missing(long... coordinates) throws IOException {
    if (!isArrayFound && !files.folder().has(NodeFiles.arrayFile(kind))) {
      throw new FileNotFoundException(files.path(NodeFiles.arrayFile(kind)));
    }
    isArrayFound = true;
    if (metadata.fill() == null) {
      throw FormatException.of(
          source.path(coordinates),
          "chunk " + Arrays.toString(coordinates),
          "missing, and the array has no fill_value: write the array completely, or with a fill_value");
    }
    int[] strides = new int[shape.length];
    if (shape.length > grid.dimensions()) {
      strides[shape.length - 1] = 1; // the fill value is a pair
    }
    return new Chunk(metadata.fill(), 0, strides);
  }

  @Override
  public void close() throws IOException {
    source.close();
  }

  @Override
  public String toString() {
    return "%s %s %s".formatted(path(), elementType(), Arrays.toString(shape));
  }
}
