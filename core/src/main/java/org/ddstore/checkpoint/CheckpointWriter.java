// SPDX-License-Identifier: Apache-2.0
package org.ddstore.checkpoint;

import java.io.IOException;
import java.io.OutputStream;
import java.util.Objects;
import java.util.regex.Pattern;

/** A writer of the streams of one rank in one checkpoint. Used by one thread. */
public final class CheckpointWriter {
  private static final Pattern NAME = Pattern.compile("[A-Za-z0-9._-]{1,100}");

  private final RankWrites writes;
  private StreamOutput last;
  private String lastName;

  CheckpointWriter(RankWrites writes) {
    this.writes = writes;
  }

  /**
   * Opens a stream, after the previous one was closed. Its bytes are written by other threads while
   * the caller produces more. Local.
   *
   * @param name name of the stream, unique over all ranks: 1 to 100 letters, digits, dots,
   *     underscores and hyphens
   * @return the stream, closed by the caller; its methods throw an {@link IOException} if a write
   *     has failed, and block while the {@linkplain CheckpointOptions#memoryLimit memory limit} is
   *     used up
   */
  public OutputStream writer(String name) {
    Objects.requireNonNull(name, "name is null");
    checkName(name);
    checkClosed();
    if (!writes.add(name)) {
      throw new IllegalArgumentException(
          "stream \"%s\" was written before: choose another name".formatted(name));
    }
    last = new StreamOutput(writes, name);
    lastName = name;
    return last;
  }

  /** Rejects an illegal name of a stream, which is part of the names of its files. */
  static void checkName(String name) {
    if (!NAME.matcher(name).matches()) {
      throw new IllegalArgumentException(
          "stream name \"%s\" does not match %s".formatted(name, NAME));
    }
  }

  /** Rejects a stream that was not closed, because its last bytes may be in a buffer above it. */
  void checkClosed() {
    if (last != null && !last.isClosed()) {
      throw new IllegalStateException(
          "stream \"%s\" is still open: close it before the next one and before the body ends"
              .formatted(lastName));
    }
  }

  /** Gives memory back after a failure. */
  void discard() {
    if (last != null) {
      last.discard();
    }
  }
}
