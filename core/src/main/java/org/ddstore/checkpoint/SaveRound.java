// SPDX-License-Identifier: Apache-2.0
package org.ddstore.checkpoint;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.ddstore.collective.Communicator;
import org.ddstore.sampling.EpochState;
import org.ddstore.types.Loggers;
import org.ddstore.types.RankFailedException;

/** The save of one checkpoint by one rank: its writes, the agreement of all ranks, publication. */
final class SaveRound {
  private static final System.Logger LOG = Loggers.of(SaveRound.class);
  private static final char WRITTEN = '+';
  private static final char STORAGE_FAILED = '!';
  private static final char BODY_FAILED = '?';

  private final RankZero rankZero;
  private final CheckpointDirectory directory;
  private final CheckpointOptions options;
  private final CheckpointName name;
  private final String failed;
  private final RankWrites writes;
  private final EpochState state;
  private Throwable bodyFailure;

  /**
   * @param failed begin of the message of a failure
   */
  SaveRound(
      RankZero rankZero,
      CheckpointDirectory directory,
      CheckpointOptions options,
      CheckpointName name,
      String failed,
      RankWrites writes,
      EpochState state) {
    this.rankZero = rankZero;
    this.directory = directory;
    this.options = options;
    this.name = name;
    this.failed = failed;
    this.writes = writes;
    this.state = state;
  }

  /** Runs the body on this thread, whose exceptions are kept. Local. */
  void runBody(CheckpointBody body) {
    CheckpointWriter to = new CheckpointWriter(writes);
    try {
      body.write(to);
      to.checkClosed();
    } catch (IOException e) {
      bodyFailure = new UncheckedIOException(failed + ": the body failed: " + e.getMessage(), e);
    } catch (RuntimeException | Error e) {
      bodyFailure = e;
    }
    to.discard(); // nothing is left to discard unless the body failed
    if (writes.failure() != null && !(bodyFailure instanceof Error)) {
      bodyFailure = null; // a consequence
    }
  }

  void throwBodyFailure() {
    if (bodyFailure instanceof Error error) {
      throw error;
    }
    if (bodyFailure != null) {
      throw (RuntimeException) bodyFailure;
    }
  }

  /**
   * Waits for the writes of all ranks and publishes the checkpoint. Collective. A failure leaves no
   * checkpoint and is thrown on all ranks.
   *
   * @throws CheckpointException if the storage failed on some rank
   * @throws RankFailedException if the body of some rank failed
   * @throws IllegalArgumentException if states differ, or two ranks wrote one stream
   */
  void complete() {
    byte[] own = outcome().getBytes(UTF_8);
    Communicator group = rankZero.group();
    group.awaitAll("writes of checkpoint " + name.number(), options.arrivalTimeout());
    byte[][] all = group.exchange("outcomes of checkpoint " + name.number(), () -> own);
    List<String> parts = new ArrayList<>();
    try {
      for (int rank = 0; rank < all.length; rank++) {
        parts.add(part(rank, new String(all[rank], UTF_8)));
      }
      checkStates(parts);
      checkStreams(parts);
    } catch (CheckpointException | RankFailedException | IllegalArgumentException e) {
      discard();
      throw e;
    }
    try {
      rankZero.run(
          failed,
          () -> {
            directory.publish(name, parts);
            return new byte[0];
          });
    } catch (RankZero.UnansweredException e) {
      throw e; // it may yet be published, as after the loss of a rank
    } catch (CheckpointException e) {
      discard();
      throw e;
    }
    onRankZero("an older checkpoint", () -> directory.clean(name, options.keep()));
  }

  private void discard() {
    onRankZero("chunks of a failed save", () -> directory.discard(name));
  }

  private String outcome() {
    if (bodyFailure != null) {
      return BODY_FAILED + bodyFailure.toString();
    }
    try {
      return WRITTEN + Manifest.part(rankZero.group().rank(), state, writes.await());
    } catch (IOException e) {
      return STORAGE_FAILED + StorageErrors.describe(e);
    }
  }

  /** Returns the lines of a rank, or throws its failure. */
  private String part(int rank, String outcome) {
    String text = outcome.substring(1);
    switch (outcome.charAt(0)) {
      case WRITTEN -> {
        return text;
      }
      case BODY_FAILED -> {
        String message = "%s: the body of rank %d failed: %s".formatted(failed, rank, text);
        RankFailedException failure = new RankFailedException(rank, message);
        failure.initCause(bodyFailure);
        throw failure;
      }
      default ->
          throw new CheckpointException(
              "%s: rank %d: %s: %s; older checkpoints are unchanged"
                  .formatted(failed, rank, text, StorageErrors.REMEDY));
    }
  }

  private void checkStates(List<String> parts) {
    String first = firstLine(parts.get(0), 0);
    for (int rank = 1; rank < parts.size(); rank++) {
      String other = firstLine(parts.get(rank), rank);
      if (!other.equals(first)) {
        throw new IllegalArgumentException(
            "%s: rank %d is at %s, rank 0 at %s: save after the same batch on all ranks"
                .formatted(failed, rank, other, first));
      }
    }
  }

  private static String firstLine(String part, int rank) {
    return part.substring(("state " + rank + " ").length(), part.indexOf('\n'));
  }

  private void checkStreams(List<String> parts) {
    Map<String, Integer> ranks = new HashMap<>();
    for (int rank = 0; rank < parts.size(); rank++) {
      String prefix = "stream " + rank + " ";
      for (String line : parts.get(rank).lines().filter(l -> l.startsWith(prefix)).toList()) {
        Integer other = ranks.put(line.substring(prefix.length()), rank);
        if (other != null) {
          throw new IllegalArgumentException(
              "%s: ranks %d and %d write the stream \"%s\": write it on one rank, or add the rank to its name"
                  .formatted(failed, other, rank, line.substring(prefix.length())));
        }
      }
    }
  }

  @FunctionalInterface
  private interface CleanUp {
    void run() throws IOException;
  }

  /** Cleans up on rank 0; a failure costs space only, so that it is logged. */
  private void onRankZero(String what, CleanUp work) {
    if (rankZero.group().rank() != 0) {
      return;
    }
    try {
      rankZero.runHere(
          "clean-up",
          () -> {
            work.run();
            return new byte[0];
          });
    } catch (CheckpointException | IllegalArgumentException e) {
      LOG.log(
          System.Logger.Level.WARNING,
          "checkpoint {0}: {1} could not be deleted: {2}",
          String.valueOf(name.number()),
          what,
          e.getMessage());
    }
  }
}
