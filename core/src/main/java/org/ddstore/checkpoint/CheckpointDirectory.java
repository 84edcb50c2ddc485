// SPDX-License-Identifier: Apache-2.0
package org.ddstore.checkpoint;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.StreamCorruptedException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.Collectors;
import org.ddstore.types.Loggers;

/** Rank 0's operations on a directory of checkpoints; manifests decide which exist. */
record CheckpointDirectory(CheckpointStorage storage) {
  private static final System.Logger LOG = Loggers.of(CheckpointDirectory.class);
  private static final String CLAIM = "claim";

  /** Returns the names of all manifests, the newest first. */
  List<CheckpointName> names() throws IOException {
    return storage.list("").stream()
        .flatMap(entry -> CheckpointName.ofManifest(entry.name()).stream())
        .sorted(Comparator.reverseOrder())
        .toList();
  }

  /** Returns the newest checkpoint that is complete, with its lengths checked. */
  Optional<CheckpointFiles> latest() throws IOException {
    for (CheckpointName name : names()) {
      Optional<CheckpointFiles> files = read(name);
      if (files.isPresent()) {
        files.get().checkLengths();
        return files;
      }
      LOG.log(
          System.Logger.Level.WARNING,
          "checkpoint {0} in {1} is skipped: its writer ended before the manifest was complete",
          String.valueOf(name.number()),
          storage);
    }
    return Optional.empty();
  }

  /**
   * Reads a manifest; empty if its writer ended before it was complete.
   *
   * @throws CorruptCheckpointException if it is not a manifest, or not as it was written
   */
  Optional<CheckpointFiles> read(CheckpointName name) throws IOException {
    try {
      return Optional.of(new CheckpointFiles(storage, name, Manifest.parse(bytes(name))));
    } catch (Manifest.IncompleteException e) {
      return Optional.empty();
    } catch (IllegalArgumentException | StreamCorruptedException e) {
      throw new CorruptCheckpointException(
          "%s in %s is not a manifest of a checkpoint: %s: delete it to continue with the checkpoint before it"
              .formatted(name.manifest(), storage, e.getMessage()));
    } catch (IOException e) {
      if (isFolder(name)) {
        throw new CorruptCheckpointException(
            "%s in %s is a directory, not a manifest of a checkpoint: delete it to continue with the checkpoint before it"
                .formatted(name.manifest(), storage));
      }
      throw e;
    }
  }

  private boolean isFolder(CheckpointName name) throws IOException {
    return storage.list("").stream()
        .anyMatch(entry -> entry.folder() && entry.name().equals(name.manifest()));
  }

  private byte[] bytes(CheckpointName name) throws IOException {
    try (InputStream in = storage.open(name.manifest())) {
      return in.readAllBytes();
    }
  }

  /** Returns name and manifest of a checkpoint, for {@link #parse}. */
  byte[] describe(CheckpointName name) throws IOException {
    return "%s\n%s".formatted(name.manifest(), new String(bytes(name), UTF_8)).getBytes(UTF_8);
  }

  /** Returns the checkpoint that rank 0 has described. Local. */
  CheckpointFiles parse(byte[] description) {
    String text = new String(description, UTF_8);
    int line = text.indexOf('\n');
    try {
      return new CheckpointFiles(
          storage,
          CheckpointName.ofManifest(text.substring(0, line)).orElseThrow(),
          Manifest.parse(text.substring(line + 1).getBytes(UTF_8)));
    } catch (Manifest.IncompleteException e) {
      throw new AssertionError("rank 0 has read it completely", e);
    }
  }

  /** Makes the caller the only writer that can publish; returns its first checkpoint's name. */
  CheckpointName claim() throws IOException {
    int generation = 0;
    long number = 0;
    List<String> incomplete = new ArrayList<>();
    for (CheckpointStorage.Entry entry : storage.list("")) {
      Optional<CheckpointName> manifest = CheckpointName.ofManifest(entry.name());
      Optional<CheckpointName> temporary = CheckpointName.ofTemporary(entry.name());
      Optional<String> writer =
          manifest
              .or(() -> temporary)
              .map(CheckpointName::writer)
              .or(() -> CheckpointName.writerOf(entry.name()));
      generation = Math.max(generation, writer.map(CheckpointName::generation).orElse(0));
      number = Math.max(number, manifest.map(CheckpointName::number).orElse(0L));
      if (temporary.isPresent() || (manifest.isPresent() && isIncomplete(manifest.get()))) {
        incomplete.add(entry.name());
      }
    }
    String writer = CheckpointName.newWriter(generation + 1, ThreadLocalRandom.current().nextInt());
    CheckpointName first = new CheckpointName(writer, number + 1);
    try (OutputStream claim = storage.create(first.folderOfWriter() + "/" + CLAIM)) {
      claim.write("since %s\n".formatted(Instant.now()).getBytes(UTF_8));
    }
    for (String file : incomplete) {
      storage.delete(file);
    }
    return first;
  }

  private boolean isIncomplete(CheckpointName name) throws IOException {
    try {
      return read(name).isEmpty();
    } catch (CorruptCheckpointException e) {
      return false; // for the user to judge
    }
  }

  /** Publishes the lines of all ranks; throws if another writer has claimed the directory. */
  void publish(CheckpointName name, List<String> parts) throws IOException {
    byte[] manifest = Manifest.toBytes(Instant.now(), parts);
    checkNotTaken(name);
    Optional<String> problem;
    try {
      problem = new CheckpointFiles(storage, name, Manifest.parse(manifest)).findWrongLength();
    } catch (Manifest.IncompleteException e) {
      throw new AssertionError("a manifest of its full length", e);
    }
    if (problem.isPresent()) {
      throw new CheckpointException(
          "checkpoint %d was not saved: rank 0 does not see what the ranks have written to %s: %s: use a directory that all hosts share"
              .formatted(name.number(), storage, problem.get()));
    }
    storage.publish(name.manifest(), manifest);
  }

  private void checkNotTaken(CheckpointName name) throws IOException {
    for (CheckpointStorage.Entry entry : storage.list("")) {
      Optional<String> writer = CheckpointName.writerOf(entry.name());
      if (writer.isPresent() && writer.get().compareTo(name.writer()) > 0) {
        throw new CheckpointException(
            "checkpoint %d was not saved: writer %s has taken over %s from writer %s: give each training its own directory"
                .formatted(name.number(), writer.get(), storage, name.writer()));
      }
    }
  }

  /** Deletes a failed checkpoint: a manifest first, which may be published despite the failure. */
  void discard(CheckpointName name) throws IOException {
    storage.delete(name.manifest());
    storage.delete(name.folder());
  }

  /**
   * Deletes all but the newest checkpoints, and the chunks that no manifest names: those of failed
   * saves, and those of writers that this one has replaced. Manifests are deleted before their
   * chunks.
   *
   * @param published newest checkpoint
   * @param keep number of checkpoints to keep
   */
  void clean(CheckpointName published, int keep) throws IOException {
    List<CheckpointName> newestFirst = names();
    Set<CheckpointName> kept = new HashSet<>();
    for (CheckpointName name : newestFirst) {
      if (kept.size() < keep || name.compareTo(published) >= 0) {
        kept.add(name);
      } else {
        storage.delete(name.manifest());
      }
    }
    Map<String, Set<String>> keptByWriter =
        kept.stream()
            .collect(
                Collectors.groupingBy(
                    CheckpointName::writer,
                    Collectors.mapping(CheckpointName::digits, Collectors.toSet())));
    for (CheckpointStorage.Entry entry : storage.list("")) {
      Optional<String> writer = CheckpointName.writerOf(entry.name());
      if (writer.isPresent() && writer.get().compareTo(published.writer()) <= 0) {
        Set<String> numbers = keptByWriter.getOrDefault(writer.get(), Set.of());
        boolean isOwn = writer.get().equals(published.writer());
        if (numbers.isEmpty()) {
          storage.delete(entry.name());
        } else {
          deleteOthers(entry.name(), numbers, isOwn ? published.digits() : null);
        }
      }
    }
  }

  /** Deletes a writer's other checkpoints: all, or those before a number that is not null. */
  private void deleteOthers(String folder, Set<String> numbers, String before) throws IOException {
    for (CheckpointStorage.Entry entry : storage.list(folder)) {
      boolean isOld = before == null || entry.name().compareTo(before) < 0;
      if (entry.folder() && isOld && !numbers.contains(entry.name())) {
        storage.delete(folder + "/" + entry.name());
      }
    }
  }
}
