// SPDX-License-Identifier: Apache-2.0
package org.ddstore.loader;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.OptionalInt;
import java.util.function.Consumer;
import java.util.regex.Pattern;
import org.ddstore.memory.HostMemory;
import org.ddstore.types.DType;

/** The options of a loader. Immutable; the methods return changed copies. */
public final class LoaderOptions implements Cloneable {
  static final Consumer<LoadedBatch> NO_TRANSFORM = batch -> {};

  private static final int MOST_DEPTH = 1024;
  private static final int MOST_WORKERS = 64;
  private static final int MOST_DEVICE_DEPTH = 16;
  private static final int MANY_PROCESSORS = 4;
  private static final Pattern DIGEST = Pattern.compile("[0-9a-f]+");

  private int depth = 16;
  private long maxBytes = 256L << 20;
  private int workers = Runtime.getRuntime().availableProcessors() < MANY_PROCESSORS ? 1 : 2;
  private List<String> fields = List.of();
  private List<Conversion> conversions = List.of();
  private Consumer<LoadedBatch> transform = NO_TRANSFORM;
  private boolean partialBatches = true;
  private Duration popTimeout = Duration.ofSeconds(30);
  private Duration closeTimeout = Duration.ofSeconds(30);
  private String digest = "";
  private OptionalInt device = OptionalInt.empty();
  private boolean pinnedMemory = true;
  private int deviceDepth = 2;

  private LoaderOptions() {}

  /**
   * {@return the defaults: all fields unconverted, 16 batches ahead in at most 256 MiB, one worker
   * (two on a machine of four processors or more), a timeout of 30 seconds}
   */
  public static LoaderOptions defaults() {
    return new LoaderOptions();
  }

  private LoaderOptions with(Consumer<LoaderOptions> change) {
    try {
      LoaderOptions copy = (LoaderOptions) clone();
      change.accept(copy);
      return copy;
    } catch (CloneNotSupportedException e) {
      throw new AssertionError(e);
    }
  }

  private static void check(String name, long value, long least, long most) {
    if (value < least || value > most) {
      throw new IllegalArgumentException(
          "%s %,d outside [%,d, %,d]".formatted(name, value, least, most));
    }
  }

  private static Duration checkTimeout(String name, Duration timeout) {
    if (timeout.isNegative() || timeout.isZero()) {
      throw new IllegalArgumentException(name + " " + timeout + " must be above 0");
    }
    return timeout;
  }

  /**
   * Sets the number of batches made ahead of the consumer, in [1, 1024].
   *
   * @param batches number of batches
   * @return a copy with this option
   */
  public LoaderOptions depth(int batches) {
    check("depth", batches, 1, MOST_DEPTH);
    return with(options -> options.depth = batches);
  }

  /**
   * Sets the memory limit of all batches, including those that the consumer holds, and of their
   * readers: rows read over a network arrive as whole records in reader memory first. Fewer batches
   * are made ahead if the depth would exceed the limit. The size of ragged fields is known only
   * after the read, that of a transform's tensors only after the transform. Therefore the first
   * batch is made alone, and a later batch that is larger than all before it can exceed the limit
   * once, together with batches made at the same time; the following batches wait for room.
   *
   * @param bytes limit in bytes, above 0
   * @return a copy with this option
   */
  public LoaderOptions maxBytes(long bytes) {
    check("maxBytes", bytes, 1, Long.MAX_VALUE);
    return with(options -> options.maxBytes = bytes);
  }

  /**
   * Sets the number of threads that read and transform, in [1, 64].
   *
   * @param threads number of threads
   * @return a copy with this option
   */
  public LoaderOptions workers(int threads) {
    check("workers", threads, 1, MOST_WORKERS);
    return with(options -> options.workers = threads);
  }

  /**
   * Reads only these fields.
   *
   * @param names names of different fields
   * @return a copy with this option
   */
  public LoaderOptions fields(String... names) {
    Objects.requireNonNull(names, "names is null");
    for (Object element : names) {
      Objects.requireNonNull(element, "an element of names is null");
    }
    return with(options -> options.fields = List.of(names));
  }

  /**
   * Delivers a numeric field as float32 or bfloat16. The last cast of a field wins.
   *
   * @param field name of a field
   * @param to {@code FLOAT32} or {@code BFLOAT16}
   * @return a copy with this option
   */
  public LoaderOptions cast(String field, DType to) {
    Objects.requireNonNull(field, "field is null");
    Objects.requireNonNull(to, "to is null");
    return cast(field, to, 1);
  }

  /**
   * Casts as {@link #cast(String, DType)} and multiplies each value by {@code scale}, a finite
   * number.
   *
   * @param field name of a field
   * @param to {@code FLOAT32} or {@code BFLOAT16}
   * @param scale factor, a finite number
   * @return a copy with this option
   */
  public LoaderOptions cast(String field, DType to, double scale) {
    Objects.requireNonNull(field, "field is null");
    Objects.requireNonNull(to, "to is null");
    return convert(new Conversion.ToType(field, to, (float) scale));
  }

  /**
   * Delivers a ragged field as {@code [rows, length, innerShape...]}, with zeros at the end of
   * shorter rows; the row offsets stay available. A field can be padded or made dense at most once.
   *
   * @param field name of a field
   * @param length at least the length of the longest row; 0 for the longest row of each batch
   * @return a copy with this option
   */
  public LoaderOptions pad(String field, int length) {
    Objects.requireNonNull(field, "field is null");
    return convert(new Conversion.ToLength(field, length));
  }

  /**
   * Delivers a ragged field of sparse values as {@code [rows, width]}. A field can be padded or
   * made dense at most once.
   *
   * @param field name of a field
   * @param columns ragged field of the values' columns, in [0, width)
   * @param width number of columns, at least 1
   * @return a copy with this option
   */
  public LoaderOptions densify(String field, String columns, int width) {
    Objects.requireNonNull(field, "field is null");
    Objects.requireNonNull(columns, "columns is null");
    return convert(new Conversion.ToDense(field, columns, width));
  }

  private LoaderOptions convert(Conversion conversion) {
    List<Conversion> more = new ArrayList<>(conversions);
    more.add(conversion);
    return with(options -> options.conversions = List.copyOf(more));
  }

  /**
   * Sets a function that runs on a worker for each batch before delivery: it may change the tensors
   * and {@link LoadedBatch#allocate} others. The loader rethrows its exceptions.
   *
   * @param transform function; must be safe for use by several threads
   * @return a copy with this option
   */
  public LoaderOptions transform(Consumer<LoadedBatch> transform) {
    Objects.requireNonNull(transform, "transform is null");
    return with(options -> options.transform = transform);
  }

  /**
   * Sets whether pushed indices that do not fill the last batch make a smaller one; true by
   * default.
   *
   * @param keep false to drop such a batch
   * @return a copy with this option
   */
  public LoaderOptions partialBatches(boolean keep) {
    return with(options -> options.partialBatches = keep);
  }

  /**
   * Sets how long the loop over an epoch waits for a batch; must be above 0.
   *
   * @param timeout maximum time, above 0
   * @return a copy with this option
   */
  public LoaderOptions popTimeout(Duration timeout) {
    Objects.requireNonNull(timeout, "timeout is null");
    return with(options -> options.popTimeout = checkTimeout("popTimeout", timeout));
  }

  /**
   * Sets how long a close waits for the workers; must be above 0. User code is interrupted at once;
   * a read that waits for another process is interrupted after one second, or after half of this
   * time if that is less. A read by MPI cannot be interrupted: the close throws after this time,
   * and the read ends when MPI returns, or with the JVM.
   *
   * @param timeout maximum time, above 0
   * @return a copy with this option
   */
  public LoaderOptions closeTimeout(Duration timeout) {
    Objects.requireNonNull(timeout, "timeout is null");
    return with(options -> options.closeTimeout = checkTimeout("closeTimeout", timeout));
  }

  /**
   * Sets the digest of the rows, as {@link org.ddstore.DDStore#digest} computes it. It becomes part
   * of the loader's states, and states of other rows are rejected. A loader without a digest
   * rejects states that have one. By default the digest of a rank's store as it was loaded.
   *
   * @param digest digest: 32 hexadecimal digits
   * @return a copy with this option
   */
  public LoaderOptions digest(String digest) {
    Objects.requireNonNull(digest, "digest is null");
    if (!DIGEST.matcher(digest).matches()) {
      throw new IllegalArgumentException(
          "digest \"%s\" is not hexadecimal: use the value of DDStore.digest".formatted(digest));
    }
    return with(options -> options.digest = digest);
  }

  /**
   * Sets the digest as {@link #digest}, if none is set.
   *
   * @param digest digest: 32 hexadecimal digits
   * @return a copy with this option
   */
  public LoaderOptions defaultDigest(String digest) {
    Objects.requireNonNull(digest, "digest is null");
    return this.digest.isEmpty() ? digest(digest) : this;
  }

  /**
   * Sets the driver's number of the device that batches are copied to and for which their memory is
   * pinned. By default the device assigned to the rank's task; without one, that of the current
   * CUDA context, of the environment variable {@code LOCAL_RANK}, or the first. All of these that
   * exist must agree, and the driver must have the device: otherwise opening the loader fails with
   * an {@link IllegalArgumentException} that names both.
   *
   * @param number number of the device, at least 0
   * @return a copy with this option
   */
  public LoaderOptions device(int number) {
    check("device", number, 0, Integer.MAX_VALUE);
    return with(options -> options.device = OptionalInt.of(number));
  }

  /** {@return the device set by {@link #device}; empty if not set} */
  public OptionalInt device() {
    return device;
  }

  /**
   * Sets the device as {@link #device}, if none is set.
   *
   * @param number number of the device, at least 0
   * @return a copy with this option
   */
  public LoaderOptions defaultDevice(int number) {
    return device.isPresent() ? this : device(number);
  }

  /**
   * Sets whether batch memory is pinned if the driver of an accelerator is present, so that copies
   * to the device run at full speed and asynchronously; true by default. Opens a context of the
   * device in this process.
   *
   * @param pinned true to pin the memory if possible
   * @return a copy with this option
   */
  public LoaderOptions pinnedMemory(boolean pinned) {
    return with(options -> options.pinnedMemory = pinned);
  }

  /**
   * Sets the number of batches that a {@link org.ddstore.device.DeviceLoader} holds on the device,
   * in [2, 16]; 2 by default. One is the consumer's, and the others are copied meanwhile.
   *
   * @param batches number of batches
   * @return a copy with this option
   */
  public LoaderOptions deviceDepth(int batches) {
    check("deviceDepth", batches, 2, MOST_DEVICE_DEPTH);
    return with(options -> options.deviceDepth = batches);
  }

  /** {@return the number of batches set by {@link #deviceDepth(int)}} */
  public int deviceDepth() {
    return deviceDepth;
  }

  /** Opens the memory of batches; the caller closes it. */
  HostMemory openMemory() {
    return pinnedMemory
        ? HostMemory.forDevice(device)
        : HostMemory.plain("switched off by pinnedMemory(false)");
  }

  int depth() {
    return depth;
  }

  long maxBytes() {
    return maxBytes;
  }

  int workers() {
    return workers;
  }

  List<String> fields() {
    return fields;
  }

  List<Conversion> conversions() {
    return conversions;
  }

  Consumer<LoadedBatch> transform() {
    return transform;
  }

  boolean partialBatches() {
    return partialBatches;
  }

  /** {@return the time set by {@link #popTimeout(Duration)}} */
  public Duration popTimeout() {
    return popTimeout;
  }

  Duration closeTimeout() {
    return closeTimeout;
  }

  String digest() {
    return digest;
  }
}
