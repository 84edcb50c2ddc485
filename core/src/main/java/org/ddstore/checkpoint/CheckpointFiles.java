// SPDX-License-Identifier: Apache-2.0
package org.ddstore.checkpoint;

import java.io.IOException;
import java.io.InputStream;
import java.io.StreamCorruptedException;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.zip.CRC32C;

/**
 * The files of a published checkpoint.
 *
 * @param storage storage that holds them
 * @param name name of the checkpoint
 * @param manifest what the files contain
 */
record CheckpointFiles(CheckpointStorage storage, CheckpointName name, Manifest manifest) {

  /**
   * @throws CorruptCheckpointException if the file is not as it was written
   * @throws IOException if the storage fails
   */
  byte[] chunk(Manifest.StoredStream stream, int index) throws IOException {
    Manifest.Chunk expected = stream.chunks().get(index);
    String path = name.folder() + "/" + stream.file(index);
    byte[] bytes;
    try (InputStream in = storage.open(path)) {
      bytes = in.readNBytes(expected.bytes());
      if (bytes.length == expected.bytes() && in.read() >= 0) {
        throw corrupt(path + " is longer than %,d bytes".formatted(expected.bytes()));
      }
    } catch (IOException e) {
      if (StorageErrors.isMissing(e)) {
        throw corrupt(path + " is missing");
      }
      if (e instanceof StreamCorruptedException) {
        throw corrupt(path + " has changed: " + StorageErrors.describe(e));
      }
      throw e;
    }
    if (bytes.length < expected.bytes()) {
      throw corrupt(path + " " + wrongLength(bytes.length, expected));
    }
    CRC32C crc = new CRC32C();
    crc.update(bytes, 0, bytes.length);
    if ((int) crc.getValue() != expected.crc()) {
      throw corrupt(
          "%s has the checksum %08x, expected %08x"
              .formatted(path, (int) crc.getValue(), expected.crc()));
    }
    return bytes;
  }

  private static String wrongLength(long bytes, Manifest.Chunk expected) {
    return "has %,d bytes, expected %,d".formatted(bytes, expected.bytes());
  }

  /** Throws unless all files are there with their lengths. */
  void checkLengths() throws IOException {
    Optional<String> problem = findWrongLength();
    if (problem.isPresent()) {
      throw corrupt(problem.get());
    }
  }

  /** Returns the first file that is missing or has another length, with both lengths. */
  Optional<String> findWrongLength() throws IOException {
    Map<String, Long> lengths = new HashMap<>();
    storage.list(name.folder()).forEach(entry -> lengths.put(entry.name(), entry.lengthBytes()));
    for (Manifest.StoredStream stream : manifest.streams().values()) {
      for (int i = 0; i < stream.chunks().size(); i++) {
        Manifest.Chunk chunk = stream.chunks().get(i);
        Long length = lengths.get(stream.file(i));
        if (length == null || length != chunk.bytes()) {
          String path = name.folder() + "/" + stream.file(i);
          String problem = length == null ? "is missing" : wrongLength(length, chunk);
          return Optional.of(path + " " + problem);
        }
      }
    }
    return Optional.empty();
  }

  private CorruptCheckpointException corrupt(String problem) {
    return new CorruptCheckpointException(
        "checkpoint %d in %s is damaged: %s: delete %s to continue with the checkpoint before it"
            .formatted(name.number(), storage, problem, name.manifest()));
  }
}
