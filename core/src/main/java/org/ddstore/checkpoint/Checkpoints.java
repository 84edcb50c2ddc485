// SPDX-License-Identifier: Apache-2.0
package org.ddstore.checkpoint;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.OutputStream;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import org.ddstore.collective.Communicator;
import org.ddstore.sampling.EpochState;
import org.ddstore.types.Cleanup;
import org.ddstore.types.CollectiveInterruptedException;
import org.ddstore.types.Loggers;
import org.ddstore.types.RejectedArgumentException;

/**
 * The checkpoints of one training in one directory, as one rank uses them. A checkpoint holds named
 * streams of bytes, which any rank writes, and the position of every rank in its epoch.
 *
 * <p><b>Publication.</b> All ranks write chunks of their streams in parallel. When all are written,
 * rank 0 writes the manifest, by which the checkpoint begins to exist. A process that ends before
 * leaves the previous checkpoints unchanged; what it wrote is deleted after the next publication.
 * Ranks that open a directory and save take it over: an earlier group of ranks that still runs
 * cannot publish in it any more.
 *
 * <p><b>Failures.</b> If the storage fails on one rank (full disk, missing directory, no
 * permission), no checkpoint is published, and all ranks throw or continue as {@link
 * CheckpointOptions#onFailure} says. In {@linkplain Saving#BACKGROUND the background} they learn of
 * it at their next {@link #save save}, {@link #await} or {@link #close()}.
 *
 * <p><b>Threads.</b> Used by one thread, which may call collectives of the communicator between two
 * calls. Saves in the background call collectives on a thread of their own, so the check of {@link
 * Communicator} for ranks that wait for each other in different groups is replaced by deadlines.
 */
public final class Checkpoints implements AutoCloseable {
  private static final System.Logger LOG = Loggers.of(Checkpoints.class);

  private final CheckpointStorage storage;
  private final CheckpointDirectory directory;
  private final CheckpointOptions options;
  private final Communicator group;
  private final RankZero rankZero;
  private final SaveThreads threads;
  private final ChunkMemory memory;
  private final AtomicBoolean closed = new AtomicBoolean();
  private CheckpointName next; // null before the first save
  private Future<?> pending; // the save in the background; null if there is none
  private volatile CheckpointException lastFailure;

  private Checkpoints(
      CheckpointStorage storage, Communicator communicator, CheckpointOptions options) {
    this.storage = storage;
    this.directory = new CheckpointDirectory(storage);
    this.options = options;
    this.memory = new ChunkMemory(options.chunkSize(), options.chunksInMemory());
    this.threads = new SaveThreads(options.writers());
    this.group = communicator.split(0);
    this.rankZero = new RankZero(group, options.saveTimeout());
  }

  /**
   * Opens the checkpoints of a directory, which need not exist. Collective, blocks. Checks that the
   * storage {@linkplain CheckpointStorage#check() can be used}; nothing is written before the first
   * save.
   *
   * @param storage directory of the checkpoints, the same on all ranks
   * @param communicator communicator of all ranks, which stays open until the checkpoints are
   *     closed
   * @param options options of the checkpoints
   * @return the checkpoints, closed by the caller
   * @throws CheckpointException if the storage cannot be used, and the options say that ranks throw
   */
  public static Checkpoints open(
      CheckpointStorage storage, Communicator communicator, CheckpointOptions options) {
    Objects.requireNonNull(storage, "storage is null");
    Objects.requireNonNull(communicator, "communicator is null");
    Objects.requireNonNull(options, "options is null");
    Checkpoints checkpoints = new Checkpoints(storage, communicator, options);
    try {
      if (options.saving() == Saving.BACKGROUND) { // collectives know now that threads differ
        checkpoints.pending = checkpoints.threads.publisher().submit(checkpoints.group::barrier);
        checkpoints.await();
      }
      checkpoints.prepare(checkpoints::checkStorage);
      return checkpoints;
    } catch (RuntimeException | Error e) {
      Cleanup.after(e, Stream.of(checkpoints::close));
      throw e;
    }
  }

  /**
   * Returns the newest checkpoint. Collective, blocks. A checkpoint whose writer ended before its
   * manifest was complete does not count.
   *
   * @return the checkpoint; empty if there is none
   * @throws CorruptCheckpointException if the newest one is damaged, or was not written by this
   *     library; the message names the file and the remedy
   * @throws CheckpointException if the storage fails
   */
  public Optional<Checkpoint> latest() {
    return find("cannot read the latest checkpoint in " + storage, directory::latest);
  }

  /**
   * Returns the numbers of all checkpoints. Collective, blocks.
   *
   * @return numbers in ascending order
   * @throws CheckpointException if the storage fails
   */
  public List<Long> numbers() {
    byte[] text =
        idle()
            .run(
                "cannot list the checkpoints in " + storage,
                () -> numbersOf(directory.names()).getBytes(UTF_8));
    return new String(text, UTF_8).lines().map(Long::valueOf).toList();
  }

  private static String numbersOf(List<CheckpointName> names) {
    StringBuilder lines = new StringBuilder();
    names.stream()
        .mapToLong(CheckpointName::number)
        .distinct()
        .sorted()
        .forEach(number -> lines.append(number).append('\n'));
    return lines.toString();
  }

  /**
   * Returns a checkpoint by its number. Collective, blocks.
   *
   * @param number number of the checkpoint, from {@link #numbers()}
   * @return the checkpoint
   * @throws IllegalArgumentException if there is none with this number; the message lists all
   * @throws CorruptCheckpointException if it is damaged
   * @throws CheckpointException if the storage fails
   */
  public Checkpoint open(long number) {
    return find(
            "cannot read checkpoint %d in %s".formatted(number, storage),
            () -> {
              List<CheckpointName> names = directory.names();
              for (CheckpointName name : names) {
                Optional<CheckpointFiles> files =
                    name.number() == number ? directory.read(name) : Optional.empty();
                if (files.isPresent()) {
                  files.get().checkLengths();
                  return files;
                }
              }
              throw new RejectedArgumentException(
                  "no checkpoint %d in %s: the numbers are %s"
                      .formatted(number, storage, numbersOf(names).lines().toList()));
            })
        .orElseThrow();
  }

  @FunctionalInterface
  private interface Search {
    Optional<CheckpointFiles> run() throws IOException;
  }

  private Optional<Checkpoint> find(String what, Search search) {
    byte[] found =
        idle()
            .run(
                what,
                () -> {
                  Optional<CheckpointFiles> files = search.run();
                  return files.isEmpty() ? new byte[0] : directory.describe(files.get().name());
                });
    return found.length == 0
        ? Optional.empty()
        : Optional.of(new Checkpoint(this, directory.parse(found)));
  }

  /**
   * Saves one stream, which rank 0 writes: for a model that is equal on all ranks. Otherwise as
   * {@link #save(EpochState, CheckpointBody)}.
   *
   * @param state position of this rank, from {@code Loader.state()}
   * @param name name of the stream
   * @param writer writes the stream; called on rank 0 only
   */
  public void save(EpochState state, String name, StreamWriter writer) {
    Objects.requireNonNull(name, "name is null");
    Objects.requireNonNull(writer, "writer is null");
    save(
        state,
        to -> {
          if (group.rank() == 0) {
            try (OutputStream out = to.writer(name)) {
              writer.write(out);
            }
          }
        });
  }

  /**
   * Saves a checkpoint. Collective: all ranks call it after the same batch. Blocks until the
   * previous save has ended and the body has run; {@link CheckpointOptions#saving} says whether
   * also until the checkpoint is published.
   *
   * @param state position of this rank, from {@code Loader.state()}; equal on all ranks
   * @param body writes the streams of this rank; called once, on this thread
   * @throws CheckpointException if the storage fails on some rank, and the options say that ranks
   *     throw
   * @throws IllegalArgumentException if states differ, or two ranks write a stream of one name
   * @throws org.ddstore.types.RankFailedException if the body of another rank throws; that rank
   *     throws its own exception
   */
  public void save(EpochState state, CheckpointBody body) {
    Objects.requireNonNull(state, "state is null");
    Objects.requireNonNull(body, "body is null");
    checkOpen();
    await();
    if (next == null && !claim()) {
      return;
    }
    CheckpointName name = next;
    next = new CheckpointName(name.writer(), name.number() + 1);
    RankWrites writes =
        new RankWrites(
            storage, name, group.rank(), memory, threads.writers(), options.saveTimeout());
    String failed = "checkpoint %d was not saved to %s".formatted(name.number(), storage);
    SaveRound round = new SaveRound(rankZero, directory, options, name, failed, writes, state);
    round.runBody(body);
    if (options.saving() == Saving.BACKGROUND) {
      pending = threads.publisher().submit(() -> completeInBackground(round));
      round.throwBodyFailure();
      return;
    }
    try {
      round.complete();
    } catch (RuntimeException e) {
      round.throwBodyFailure();
      report(e);
      throwUnlessReported(e);
    }
  }

  private byte[] checkStorage() throws IOException {
    storage.check();
    return new byte[0];
  }

  /** Becomes the writer of the directory; returns false after a failure that was reported. */
  private boolean claim() {
    Optional<byte[]> name = prepare(() -> directory.claim().manifest().getBytes(UTF_8));
    name.ifPresent(
        manifest -> next = CheckpointName.ofManifest(new String(manifest, UTF_8)).orElseThrow());
    return name.isPresent();
  }

  /** Runs work before the first save; returns nothing after a failure that was reported. */
  private Optional<byte[]> prepare(RankZero.Work work) {
    try {
      return Optional.of(rankZero.run("no checkpoint was saved to " + storage, work));
    } catch (RuntimeException e) {
      report(e);
      throwUnlessReported(e);
      return Optional.empty();
    }
  }

  private void completeInBackground(SaveRound round) {
    try {
      round.complete();
    } catch (RuntimeException e) {
      report(e);
      throw e;
    }
  }

  private void report(RuntimeException failure) {
    if (failure instanceof CheckpointException e) {
      lastFailure = e;
      if (options.onFailure() == SaveFailure.REPORT && group.rank() == 0) {
        LOG.log(System.Logger.Level.WARNING, e.getMessage());
      }
    }
  }

  private void throwUnlessReported(RuntimeException failure) {
    if (options.onFailure() == SaveFailure.THROW || !(failure instanceof CheckpointException)) {
      throw failure;
    }
  }

  /**
   * Waits until the save in the background has ended. Blocks; all ranks must have called its {@code
   * save}.
   *
   * @throws CheckpointException if the storage failed, and the options say that ranks throw
   */
  public void await() {
    Future<?> save = pending;
    if (save == null) {
      return;
    }
    try {
      save.get();
      pending = null;
    } catch (ExecutionException e) {
      pending = null; // thrown once
      if (e.getCause() instanceof Error error) {
        throw error;
      }
      throwUnlessReported((RuntimeException) e.getCause());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new CollectiveInterruptedException("interrupted while a checkpoint is saved");
    }
  }

  /** Returns the collectives when the save in the background has ended; its failure waits. */
  RankZero idle() {
    checkOpen();
    Future<?> save = pending;
    if (save != null) {
      try {
        save.get();
      } catch (ExecutionException e) {
        // thrown by the next await()
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new CollectiveInterruptedException("interrupted while a checkpoint is saved");
      }
    }
    return rankZero;
  }

  /** {@return the last failure of the storage in a save; empty if there was none} Local. */
  public Optional<CheckpointException> lastFailure() {
    return Optional.ofNullable(lastFailure);
  }

  private void checkOpen() {
    if (closed.get()) {
      throw new IllegalStateException("closed: " + this);
    }
  }

  /** {@return whether {@link #close()} was called} Local. */
  public boolean isClosed() {
    return closed.get();
  }

  /**
   * Waits until the save in the background has ended, and ends the threads. Idempotent.
   *
   * @throws CheckpointException if that save failed, and the options say that ranks throw
   */
  @Override
  public void close() {
    if (closed.compareAndSet(false, true)) {
      Cleanup.runAll(Stream.of(this::await, threads::close, group::close));
    }
  }

  @Override
  public String toString() {
    return "Checkpoints[%s, rank %d of %d]".formatted(storage, group.rank(), group.size());
  }
}
