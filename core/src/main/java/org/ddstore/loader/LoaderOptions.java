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

/** How a loader works. Immutable; the methods give changed copies. */
public final class LoaderOptions implements Cloneable {
  static final Consumer<LoadedBatch> NO_TRANSFORM = batch -> {};

  private static final int MOST_DEPTH = 1024;
  private static final int MOST_WORKERS = 64;
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

  private LoaderOptions() {}

  /**
   * All fields as they are, sixteen batches ahead in at most 256 MiB, one worker (two on a machine
   * of four processors or more), 30 seconds to wait.
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
      throw new IllegalArgumentException(name + " " + timeout + " is not above 0");
    }
    return timeout;
  }

  /** How many batches are made ahead of the consumer, of [1, 1024]. */
  public LoaderOptions withDepth(int batches) {
    check("depth", batches, 1, MOST_DEPTH);
    return with(options -> options.depth = batches);
  }

  /**
   * The memory of all batches, also of those that the consumer holds, and of what their readers
   * need: rows that come over a network come as whole records, into memory of a reader first. Fewer
   * batches are made ahead where the depth would need more. What ragged fields take is known after
   * the read, what a transform allocates after the transform: the first batch is made alone, a
   * later one that is larger than all before may pass the bound for once, with those that are made
   * beside it, and the next ones wait for room.
   */
  public LoaderOptions withMaxBytes(long bytes) {
    check("maxBytes", bytes, 1, Long.MAX_VALUE);
    return with(options -> options.maxBytes = bytes);
  }

  /** Threads that read and transform, of [1, 64]. */
  public LoaderOptions withWorkers(int threads) {
    check("workers", threads, 1, MOST_WORKERS);
    return with(options -> options.workers = threads);
  }

  /** Reads these fields alone. */
  public LoaderOptions withFields(String... names) {
    Objects.requireNonNull(names, "names is null");
    for (Object element : names) {
      Objects.requireNonNull(element, "an element of names is null");
    }
    return with(options -> options.fields = List.of(names));
  }

  /**
   * Gives a field of numbers out as float32 or bfloat16. Of two casts of one field the last counts.
   */
  public LoaderOptions cast(String field, DType to) {
    Objects.requireNonNull(field, "field is null");
    Objects.requireNonNull(to, "to is null");
    return cast(field, to, 1);
  }

  /** As {@link #cast(String, DType)}, each value times {@code scale}, a finite number. */
  public LoaderOptions cast(String field, DType to, double scale) {
    Objects.requireNonNull(field, "field is null");
    Objects.requireNonNull(to, "to is null");
    return convert(new Conversion.ToType(field, to, (float) scale));
  }

  /**
   * Gives a ragged field out as {@code [rows, length, innerShape...]}, zeros at the end of shorter
   * rows; the row offsets stay. A field is padded or made dense once.
   *
   * @param length at least that of the longest row; 0 for that of the longest of each batch
   */
  public LoaderOptions pad(String field, int length) {
    Objects.requireNonNull(field, "field is null");
    return convert(new Conversion.ToLength(field, length));
  }

  /**
   * Gives a ragged field of sparse values out as {@code [rows, width]}. A field is padded or made
   * dense once.
   *
   * @param columns the ragged field of the values' columns, of [0, width)
   * @param width at least 1
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
   * Runs on a worker for each batch before it is given out: it may change the tensors and {@link
   * LoadedBatch#allocate} others. What it throws comes out of the loader.
   */
  public LoaderOptions withTransform(Consumer<LoadedBatch> newTransform) {
    Objects.requireNonNull(newTransform, "transform");
    return with(options -> options.transform = newTransform);
  }

  /** Whether pushed indices that do not fill a last batch make a smaller one; so unless changed. */
  public LoaderOptions withPartialBatches(boolean keep) {
    return with(options -> options.partialBatches = keep);
  }

  /** How long the loop over an epoch waits for a batch; above 0. */
  public LoaderOptions withPopTimeout(Duration timeout) {
    Objects.requireNonNull(timeout, "timeout is null");
    return with(options -> options.popTimeout = checkTimeout("popTimeout", timeout));
  }

  /**
   * How long a close waits for what the workers are doing; above 0. User's code is interrupted at
   * once; a read that waits for another process after a second, or after half of this time if that
   * is less. A read of MPI is deaf to that: the close throws after this time, and the read ends
   * when MPI comes back, or with the JVM.
   */
  public LoaderOptions withCloseTimeout(Duration timeout) {
    Objects.requireNonNull(timeout, "timeout is null");
    return with(options -> options.closeTimeout = checkTimeout("closeTimeout", timeout));
  }

  /**
   * The digest of the rows, as {@link org.ddstore.DDStore#digest} computes it: it is part of the
   * loader's states, and states of other rows are refused. A loader without one refuses states that
   * have one. Unless set, that of a rank's store as it was loaded.
   */
  public LoaderOptions withDigest(String newDigest) {
    Objects.requireNonNull(newDigest, "newDigest is null");
    if (!DIGEST.matcher(newDigest).matches()) {
      throw new IllegalArgumentException(
          "digest \"%s\" is not of hexadecimal digits: give what DDStore.digest computes"
              .formatted(newDigest));
    }
    return with(options -> options.digest = newDigest);
  }

  /** As {@link #withDigest}, if none is set. */
  public LoaderOptions withDefaultDigest(String newDigest) {
    Objects.requireNonNull(newDigest, "newDigest is null");
    return digest.isEmpty() ? withDigest(newDigest) : this;
  }

  /**
   * The device to which batches are copied, for which their memory is pinned: the driver's number
   * of it. Unless set, that which a rank's task was given, else the first.
   */
  public LoaderOptions withDevice(int number) {
    check("device", number, 0, Integer.MAX_VALUE);
    return with(options -> options.device = OptionalInt.of(number));
  }

  /** What {@link #withDevice} has set; empty if nothing. */
  public OptionalInt device() {
    return device;
  }

  /** As {@link #withDevice}, if none is set. */
  public LoaderOptions withDefaultDevice(int number) {
    return device.isPresent() ? this : withDevice(number);
  }

  /**
   * Whether the memory of batches is locked in place where the driver of an accelerator is there,
   * so that copies to it run at full speed and beside the program; so unless changed. Opens a
   * context of the device in this process.
   */
  public LoaderOptions withPinnedMemory(boolean pinned) {
    return with(options -> options.pinnedMemory = pinned);
  }

  /** The memory of batches, to be closed by the caller. */
  HostMemory openMemory() {
    return pinnedMemory
        ? HostMemory.forDevice(device.orElse(0))
        : HostMemory.plain("switched off by withPinnedMemory(false)");
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

  Duration popTimeout() {
    return popTimeout;
  }

  Duration closeTimeout() {
    return closeTimeout;
  }

  String digest() {
    return digest;
  }
}
