// SPDX-License-Identifier: Apache-2.0
package org.ddstore.checkpoint;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.TreeSet;
import org.ddstore.sampling.EpochState;
import org.ddstore.types.RejectedArgumentException;

/**
 * A published checkpoint. It stays readable until newer ones replace it. {@link #load} and {@link
 * #bytes} are collective, and used until their {@link Checkpoints} are closed; everything else is
 * local.
 */
public final class Checkpoint {
  private final Checkpoints owner;
  private final CheckpointFiles files;

  Checkpoint(Checkpoints owner, CheckpointFiles files) {
    this.owner = owner;
    this.files = files;
  }

  /** {@return the number of the checkpoint in its directory, from 1} */
  public long number() {
    return files.name().number();
  }

  /** {@return the time of the publication, by the clock of rank 0} */
  public Instant created() {
    return files.manifest().created();
  }

  /** {@return the number of ranks that saved it} */
  public int ranks() {
    return files.manifest().states().size();
  }

  /**
   * {@return the position at which it was saved, the same for all ranks} It can be resumed on
   * another number of ranks if the batches have a {@code globalBatchSize}.
   */
  public EpochState state() {
    return states().get(0);
  }

  /** {@return the position of each rank that saved it, by rank; all are equal} */
  public List<EpochState> states() {
    return files.manifest().states();
  }

  /** {@return the names of the streams, in alphabetical order} */
  public List<String> streams() {
    return List.copyOf(new TreeSet<>(files.manifest().streams().keySet()));
  }

  /**
   * {@return the length of a stream in bytes}
   *
   * @param name name of the stream
   * @throws IllegalArgumentException if there is no such stream; the message lists all
   */
  public long length(String name) {
    return stream(name).length();
  }

  private Manifest.StoredStream stream(String name) {
    Objects.requireNonNull(name, "name is null");
    Manifest.StoredStream stream = files.manifest().streams().get(name);
    if (stream == null) {
      throw new RejectedArgumentException(
          "%s has no stream \"%s\": it has %s".formatted(this, name, streams()));
    }
    return stream;
  }

  /**
   * Opens a stream for this rank alone. Local; reads block. Each chunk is verified before its first
   * byte is returned; reads throw a {@link CorruptCheckpointException} if one is damaged.
   *
   * @param name name of the stream
   * @return the bytes, in a heap of one chunk
   * @throws IllegalArgumentException if there is no such stream; the message lists all
   */
  public InputStream reader(String name) {
    Manifest.StoredStream stream = stream(name);
    int[] next = {0};
    return new ChunkInput(
        () -> next[0] == stream.chunks().size() ? null : files.chunk(stream, next[0]++));
  }

  /**
   * Reads a stream once for all ranks: rank 0 reads and verifies the chunks, and broadcasts them.
   * Collective, blocks.
   *
   * @param name name of the stream, the same on all ranks
   * @param reader receives the bytes on this rank; bytes that it does not read are skipped. If it
   *     throws on one rank, the others throw a {@link org.ddstore.types.RankFailedException}
   * @throws CorruptCheckpointException if a chunk is damaged, on all ranks
   * @throws CheckpointException if the storage fails, on all ranks
   * @throws IllegalArgumentException if there is no such stream; the message lists all
   */
  public void load(String name, StreamReader reader) {
    Objects.requireNonNull(reader, "reader is null");
    Manifest.StoredStream stream = stream(name);
    new SharedStream(owner.idle(), files, stream, this + ", stream \"" + name + "\"").read(reader);
  }

  /**
   * Returns a stream as {@link #load} does. Collective, blocks.
   *
   * @param name name of the stream, the same on all ranks
   * @return all bytes, in a new array
   * @throws CorruptCheckpointException if a chunk is damaged, on all ranks
   * @throws CheckpointException if the storage fails, on all ranks
   * @throws IllegalArgumentException if there is no such stream, or it is longer than an array
   */
  public byte[] bytes(String name) {
    long length = length(name);
    if (length > Integer.MAX_VALUE - 8) {
      throw new IllegalArgumentException(
          "stream \"%s\" has %,d bytes, more than an array: use load".formatted(name, length));
    }
    byte[] bytes = new byte[(int) length];
    load(
        name,
        in -> {
          if (in.readNBytes(bytes, 0, bytes.length) < bytes.length) {
            throw new UncheckedIOException(new IOException("the stream ends early"));
          }
        });
    return bytes;
  }

  @Override
  public String toString() {
    return "checkpoint %d in %s".formatted(number(), files.storage());
  }
}
