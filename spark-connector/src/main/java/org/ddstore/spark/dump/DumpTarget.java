// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.dump;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.spark.sql.types.StructType;
import org.ddstore.PackedRows;
import org.ddstore.Variable;
import org.ddstore.memory.Nonce;
import org.ddstore.spark.cluster.Interrupts;
import org.ddstore.spark.ingest.IngestOptions;
import org.ddstore.spark.types.ColumnMapping;
import org.ddstore.spark.types.DumpException;
import org.ddstore.spark.types.DumpInfo;
import org.ddstore.spark.types.DumpMode;
import org.ddstore.types.Schema;

/**
 * The target of one dump: a new folder of data files, which becomes a dump when {@link #publish}
 * writes its manifest. The driver creates and publishes it; ranks write the files.
 */
public final class DumpTarget implements Serializable {
  private static final long serialVersionUID = 1L;

  private final DumpDirectory directory;
  private final String id;
  private final String manifest;
  private final List<String> replaced;
  private final List<String>
      createdDirectories; // directories that did not exist before, the deepest first

  private DumpTarget(
      DumpDirectory directory,
      String id,
      String manifest,
      List<String> replaced,
      List<String> createdDirectories) {
    this.directory = directory;
    this.id = id;
    this.manifest = manifest;
    this.replaced = List.copyOf(replaced);
    this.createdDirectories = List.copyOf(createdDirectories);
  }

  /**
   * The description of a dumped store, which a restore needs in addition to the files.
   *
   * @param sourceSchema stored columns of its DataFrame
   * @param columns fields of each leaf of the source schema
   * @param options options by which rows become records
   */
  public record Description(
      String store,
      String digest,
      Schema schema,
      StructType sourceSchema,
      List<ColumnMapping> columns,
      IngestOptions options) {}

  /**
   * Checks a directory and creates a folder for a dump in it. Blocks.
   *
   * @throws IllegalArgumentException if the directory contains other files, or a dump that the mode
   *     does not replace
   */
  public static DumpTarget create(DumpDirectory directory, DumpMode mode) {
    DumpEntries entries =
        switch (DumpEntries.kind(directory)) {
          case ABSENT -> DumpEntries.none();
          case DIRECTORY -> DumpEntries.of(directory);
          case FILE ->
              throw new IllegalArgumentException(
                  "cannot dump to %s: it is a file; give a directory".formatted(directory));
        };
    if (!entries.others().isEmpty()) {
      throw new IllegalArgumentException(
          "cannot dump to %s: it contains %s, which is not part of a dump; give a new or empty directory"
              .formatted(directory, entries.others().get(0)));
    }
    if (mode == DumpMode.CREATE && !entries.isEmpty()) {
      throw new IllegalArgumentException(
          "cannot dump to %s: it contains %s dump; give another directory, or DumpMode.OVERWRITE"
              .formatted(directory, entries.manifests().isEmpty() ? "an unfinished" : "a"));
    }
    String id = Nonce.random().toString();
    DumpTarget target =
        new DumpTarget(
            directory,
            id,
            entries.nextManifest(id),
            Stream.concat(entries.manifests().stream(), entries.folders().stream()).toList(),
            directory.missing());
    try {
      directory.createFolder(target.folder());
    } catch (DumpException e) {
      directory.deleteEmpty(target.createdDirectories);
      throw e;
    }
    return target;
  }

  /**
   * Checks that no store needs a dump that this one replaces.
   *
   * @param stores names of stores that were restored from a dump, by the folder of that dump
   * @throws IllegalArgumentException if one does
   */
  public void checkUnneeded(Map<String, String> stores) {
    for (String entry : replaced) {
      String store = stores.get(entry);
      if (store != null) {
        throw new IllegalArgumentException(
            "cannot dump to %s: store \"%s\" was restored from the dump there, which its lost rows are loaded from; give another directory"
                .formatted(directory, store));
      }
    }
  }

  private String folder() {
    return DumpEntries.folder(id);
  }

  /**
   * Writes rows to a new data file. Local; called by ranks. Blocks.
   *
   * @param firstRow global index of the first row
   * @param name name of the file, which no other rank and no other attempt uses
   */
  public DumpedFile write(Variable rows, long firstRow, long count, String name) {
    try (DumpWriter writer = new DumpWriter(directory, folder(), name, firstRow)) {
      PackedRows.forEach(rows, firstRow, count, writer::append);
      return writer.finish();
    }
  }

  /**
   * Verifies that all files can be seen and writes the manifest, which makes them a dump: the
   * commit point. Then deletes the dump that this one replaces, and files of failed attempts.
   *
   * @param written files, in any order
   * @throws DumpException if the files do not have the rows of the store, or cannot be seen here,
   *     or another dump was published in the directory meanwhile
   */
  public DumpInfo publish(Description store, List<DumpedFile> written) {
    List<DumpedFile> files = new ArrayList<>(written);
    files.sort(Comparator.comparingLong(DumpedFile::firstRow));
    if (!DumpManifest.digestOf(files).equals(store.digest())) {
      throw new DumpException(
          "dump of \"%s\" to %s has digest %s, the store has %s: repeat the dump"
              .formatted(store.store(), directory, DumpManifest.digestOf(files), store.digest()),
          null);
    }
    DumpManifest contents =
        new DumpManifest(
            store.store(),
            folder(),
            store.digest(),
            store.schema(),
            store.sourceSchema(),
            store.columns(),
            store.options(),
            files);
    Set<String> others = checkVisible(files);
    checkAlone();
    directory.write(manifest, contents.toBytes());
    Interrupts.cleanUp(
        "deletion of what the dump to %s replaces".formatted(directory),
        () -> {
          replaced.forEach(directory::delete); // manifests first, so that none lacks its files
          others.forEach(name -> directory.delete(folder() + "/" + name));
        });
    return DumpSource.info(directory, contents);
  }

  /** Checks that no other dump was published in the directory since this one was begun. */
  private void checkAlone() {
    for (String other : DumpEntries.of(directory).manifests()) {
      if (!replaced.contains(other)) {
        throw new DumpException(
            "cannot dump to %s: another dump, %s, was published there meanwhile: give each dump its own directory"
                .formatted(directory, other),
            null);
      }
    }
  }

  /** Checks that the files are in the folder, and returns the names of all other files in it. */
  private Set<String> checkVisible(List<DumpedFile> files) {
    Map<String, Long> lengths = new HashMap<>();
    for (FileStatus status : directory.list(folder())) {
      lengths.put(status.getPath().getName(), status.getLen());
    }
    Set<String> others = new HashSet<>(lengths.keySet());
    for (DumpedFile file : files) {
      Long length = lengths.get(file.name());
      if (length == null || length != file.bytes()) {
        throw new DumpException(
            "file %s/%s has %s on the driver, a rank has written %,d bytes: give a directory that driver and executors share, and let no other dump write to it"
                .formatted(
                    directory.entry(folder()),
                    file.name(),
                    length == null ? "no bytes" : "%,d bytes".formatted(length),
                    file.bytes()),
            null);
      }
      others.remove(file.name());
    }
    return others;
  }

  /**
   * Deletes the files of a dump that was not published, and the directories that it has created if
   * nothing else is in them. Logs a failure.
   */
  public void discard() {
    Interrupts.cleanUp(
        "deletion of the unfinished dump in " + directory,
        () -> {
          directory.delete(manifest);
          directory.delete(folder());
          directory.deleteEmpty(createdDirectories);
        });
  }

  @Override
  public String toString() {
    return directory.entry(folder()).toString();
  }
}
