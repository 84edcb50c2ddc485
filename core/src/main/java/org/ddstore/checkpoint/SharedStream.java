// SPDX-License-Identifier: Apache-2.0
package org.ddstore.checkpoint;

import java.io.IOException;
import java.io.UncheckedIOException;
import org.ddstore.collective.Communicator;

/** A stream that rank 0 reads, and all ranks receive chunk by chunk. Collective. */
final class SharedStream implements ChunkInput.Source {
  private final RankZero rankZero;
  private final CheckpointFiles files;
  private final Manifest.StoredStream stream;
  private final String what;
  private int next;
  private RuntimeException failure;

  /**
   * @param what name of the checkpoint and the stream
   */
  SharedStream(
      RankZero rankZero, CheckpointFiles files, Manifest.StoredStream stream, String what) {
    this.rankZero = rankZero;
    this.files = files;
    this.stream = stream;
    this.what = what;
  }

  @Override
  public byte[] next() {
    if (failure != null) {
      throw failure;
    }
    if (next == stream.chunks().size()) {
      return null;
    }
    int chunk = next++;
    try {
      return rankZero.run("%s, chunk %d".formatted(what, chunk), () -> files.chunk(stream, chunk));
    } catch (RuntimeException e) {
      failure = e; // the same on all ranks, which end together
      throw e;
    }
  }

  /** Calls the reader, skips what it has not read, and waits until all ranks have done so. */
  void read(StreamReader reader) {
    RuntimeException own = null;
    try {
      reader.read(new ChunkInput(this));
    } catch (IOException e) {
      own = new UncheckedIOException(what + ": " + e.getMessage(), e);
    } catch (RuntimeException e) {
      own = e;
    }
    while (failure == null && next < stream.chunks().size()) {
      next();
    }
    if (failure != null) {
      throw failure;
    }
    RuntimeException thrown = own;
    Communicator group = rankZero.group();
    group.exchange(
        "end of " + what,
        () -> {
          if (thrown != null) {
            throw thrown;
          }
          return new byte[0];
        });
  }
}
