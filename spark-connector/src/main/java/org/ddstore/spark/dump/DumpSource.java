// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.dump;

import java.io.ByteArrayOutputStream;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSError;
import org.apache.hadoop.fs.FileStatus;
import org.apache.spark.sql.types.StructType;
import org.ddstore.spark.dump.DumpManifest.NotAManifestException;
import org.ddstore.spark.ingest.IngestOptions;
import org.ddstore.spark.ingest.ShardLoader;
import org.ddstore.spark.types.ColumnMapping;
import org.ddstore.spark.types.DumpException;
import org.ddstore.spark.types.DumpInfo;
import org.ddstore.spark.types.InvalidDumpException;
import org.ddstore.spark.types.InvalidDumpException.Problem;
import org.ddstore.types.Schema;

/** A complete dump: the origin of the rows of a restored store. Used on the driver. Immutable. */
public final class DumpSource {
  private final DumpDirectory directory;
  private final DumpManifest manifest;

  private DumpSource(DumpDirectory directory, DumpManifest manifest) {
    this.directory = directory;
    this.manifest = manifest;
  }

  /** Returns the name of the folder of the data files, which no other dump has. */
  public String folder() {
    return manifest.folder();
  }

  /**
   * Opens the newest complete dump of a directory and checks the lengths of its files. Blocks.
   *
   * @throws InvalidDumpException if the directory has no complete dump
   */
  public static DumpSource open(DumpDirectory directory) {
    DumpEntries entries =
        switch (DumpEntries.kind(directory)) {
          case DIRECTORY -> DumpEntries.of(directory);
          case ABSENT ->
              throw new InvalidDumpException(
                  Problem.MISSING,
                  "dump %s does not exist: check the path and its file system".formatted(directory),
                  null);
          case FILE ->
              throw new InvalidDumpException(
                  Problem.FOREIGN,
                  "%s is a file, not a dump: give the directory of a dump".formatted(directory),
                  null);
        };
    DumpSource source = new DumpSource(directory, newest(directory, entries));
    source.check();
    return source;
  }

  private static DumpManifest newest(DumpDirectory directory, DumpEntries entries) {
    InvalidDumpException first = null;
    for (String name : entries.manifests()) {
      try {
        return DumpManifest.parse(read(directory, name));
      } catch (NotAManifestException e) {
        if (first == null) { // an older dump may be complete
          first =
              new InvalidDumpException(
                  e.isForeign() ? Problem.FOREIGN : Problem.DAMAGED,
                  "manifest %s of a dump is not readable: %s"
                      .formatted(directory.entry(name), e.getMessage()),
                  e);
        }
      }
    }
    if (first != null) {
      throw first;
    }
    throw entries.folders().isEmpty()
        ? new InvalidDumpException(
            Problem.FOREIGN,
            "directory %s contains no dump: give the directory that was passed to dump(..)"
                .formatted(directory),
            null)
        : new InvalidDumpException(
            Problem.INCOMPLETE,
            "dump %s has no manifest, because it was stopped or is still being written: dump the store again with DumpMode.OVERWRITE"
                .formatted(directory),
            null);
  }

  private static byte[] read(DumpDirectory directory, String name) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (FSDataInputStream in = directory.open(name)) {
      in.transferTo(bytes);
    } catch (IOException | FSError e) {
      throw DumpReader.failure(directory.entry(name).toString(), e);
    }
    return bytes.toByteArray();
  }

  /**
   * Checks that all files exist with their lengths. Blocks.
   *
   * @throws InvalidDumpException if a file is missing or truncated
   */
  public void check() {
    Map<String, Long> lengths = new HashMap<>();
    if (!manifest.files().isEmpty()) {
      try {
        for (FileStatus status : directory.list(manifest.folder())) {
          lengths.put(status.getPath().getName(), status.getLen());
        }
      } catch (DumpException e) {
        if (!(e.getCause() instanceof FileNotFoundException)) {
          throw e;
        }
      }
    }
    for (DumpedFile file : manifest.files()) {
      Long length = lengths.get(file.name());
      String path = directory.entry(manifest.folder() + "/" + file.name()).toString();
      if (length == null) {
        throw DumpReader.damaged(path, "is missing", null);
      }
      if (length != file.bytes()) {
        throw DumpReader.damaged(
            path, "has %,d bytes instead of %,d".formatted(length, file.bytes()), null);
      }
    }
  }

  public DumpInfo info() {
    return info(directory, manifest);
  }

  static DumpInfo info(DumpDirectory directory, DumpManifest manifest) {
    return new DumpInfo(
        directory.path(),
        manifest.store(),
        manifest.rows(),
        manifest.bytes(),
        manifest.files().size(),
        manifest.digest(),
        manifest.schema(),
        manifest.sourceSchema());
  }

  public String digest() {
    return manifest.digest();
  }

  public Schema schema() {
    return manifest.schema();
  }

  public StructType sourceSchema() {
    return manifest.sourceSchema();
  }

  public List<ColumnMapping> columns() {
    return manifest.columns();
  }

  public IngestOptions options() {
    return manifest.options();
  }

  /** Returns the memory of one copy of the rows: the records and the offsets of ragged ones. */
  public long memoryBytes() {
    return manifest.bytes() + (manifest.schema().isFixed() ? 0 : manifest.rows() * Long.BYTES);
  }

  /**
   * Returns a loader of shards.
   *
   * @param width number of shards into which the rows are divided
   * @param shardOfRank shard that each rank of a job loads, in [0, width)
   */
  public ShardLoader loader(int width, int... shardOfRank) {
    return new DumpLoader(directory, manifest, memoryBytes(), width, shardOfRank);
  }

  /**
   * Checks the digest of restored rows.
   *
   * @throws InvalidDumpException if it differs from that of the manifest
   */
  public void checkDigest(String restored) {
    if (!restored.equals(manifest.digest())) {
      throw new InvalidDumpException(
          Problem.DAMAGED,
          "rows of dump %s have digest %s, its manifest has %s: dump the store again"
              .formatted(directory, restored, manifest.digest()),
          null);
    }
  }

  @Override
  public String toString() {
    return "dump %s of \"%s\"".formatted(directory, manifest.store());
  }
}
