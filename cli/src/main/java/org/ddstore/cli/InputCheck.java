// SPDX-License-Identifier: Apache-2.0
package org.ddstore.cli;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.util.VersionInfo;
import org.ddstore.formats.InputFile;
import org.ddstore.local.EmbeddedSpark;
import org.ddstore.types.DDStoreException;

/** A check of {@code --input} on this host that costs milliseconds, before executors start. */
final class InputCheck {
  private static final Pattern PATTERN_CHARACTER = Pattern.compile("[*?\\[\\]{}\\\\]");

  /** Files of a folder whose names are looked at. */
  private static final int MAX_FILES = 10_000;

  /** The first bytes of files that Spark reads. */
  private static final Map<String, String> MAGIC =
      Map.of("parquet", "PAR", "orc", "ORC", "avro", "Obj\u0001");

  private final String path;
  private final InputOptions options;

  private InputCheck(String path, InputOptions options) {
    this.path = path;
    this.options = options;
  }

  /**
   * Returns the path as Spark reads it: characters of patterns in the name of a file are quoted.
   *
   * @throws DDStoreException if it is seen now that the files cannot be read
   */
  static String checked(String path, InputOptions options) {
    return new InputCheck(path, options).checked();
  }

  private String checked() {
    if (path.matches("(?i)s3n?://.*")) {
      throw refused("use " + path.replaceFirst("(?i)s3n?", "s3a"));
    }
    if (path.matches("(?i)s3a://.*") && !isPresent("org.apache.hadoop.fs.s3a.S3AFileSystem")) {
      throw refused(
          "the class path has no S3A: start by spark-submit --packages"
              + " org.apache.hadoop:hadoop-aws:%s (docs/commands.md)"
                  .formatted(VersionInfo.getVersion()));
    }
    Path local = local();
    if (local == null) {
      checkScheme(path.substring(0, path.indexOf(':')));
      return path;
    }
    try {
      if (!Files.exists(local)) {
        if (isPattern()) {
          return path;
        }
        throw refused("no such file or directory");
      }
      if (Files.isDirectory(local)) {
        checkFolder(local);
      } else {
        checkFile(local);
      }
    } catch (IOException e) {
      throw new DDStoreException("--input %s: cannot be read: %s".formatted(path, e), e);
    }
    return isPattern() ? quoted() : path;
  }

  /** A program of spark-submit may have settings and jars of other file systems. */
  private void checkScheme(String scheme) {
    if (EmbeddedSpark.isSubmitted()) {
      return;
    }
    try {
      FileSystem.getFileSystemClass(scheme, new Configuration());
    } catch (IOException | RuntimeException e) { // a class that is not there is the cause of both
      throw refused(
          "the class path has no file system \"%s\": start by spark-submit with the jar of its connector (docs/commands.md)"
              .formatted(scheme));
    }
  }

  private DDStoreException refused(String problem) {
    return new DDStoreException("--input %s: %s".formatted(path, problem));
  }

  private static boolean isPresent(String className) {
    try {
      Class.forName(className, false, InputCheck.class.getClassLoader());
      return true;
    } catch (ClassNotFoundException e) {
      return false;
    }
  }

  /** Returns the path on this host; null for a scheme that only Hadoop resolves. */
  private Path local() {
    if (path.matches("[a-zA-Z][\\w+.-]+:.*")) {
      return null;
    }
    try {
      return Path.of(path);
    } catch (InvalidPathException e) {
      throw new DDStoreException("--input %s: %s".formatted(path, e.getReason()), e);
    }
  }

  private boolean isPattern() {
    return PATTERN_CHARACTER.matcher(path).find();
  }

  private String quoted() {
    return PATTERN_CHARACTER.matcher(path).replaceAll("\\\\$0");
  }

  private void checkFile(Path file) throws IOException {
    String format = options.format == null ? ofName(file).orElse("") : options.format;
    String magic = MAGIC.get(format.toLowerCase(Locale.ROOT));
    if (magic == null) {
      return;
    }
    byte[] begin;
    try (InputStream in = Files.newInputStream(file)) {
      begin = in.readNBytes(magic.length());
    }
    if (!new String(begin, ISO_8859_1).equals(magic)) {
      throw refused(
          "%s is no %s file: %s; set --format to its format"
              .formatted(
                  file.getFileName(),
                  format,
                  begin.length == 0 ? "it is empty" : "it does not begin with " + magic));
    }
  }

  private void checkFolder(Path folder) throws IOException {
    if (options.format == null && ofName(folder).isPresent()) {
      return; // a folder that is one data set, such as rows.parquet or cells.zarr
    }
    Map<String, Path> byFormat = new TreeMap<>();
    List<Path> files;
    try (Stream<Path> all = Files.walk(folder)) {
      files =
          all.filter(Files::isRegularFile)
              .filter(file -> !isHidden(folder.relativize(file)))
              .limit(MAX_FILES)
              .toList();
    }
    if (files.isEmpty()) {
      throw refused("the folder has no files");
    }
    files.forEach(file -> ofName(file).ifPresent(format -> byFormat.putIfAbsent(format, file)));
    if (options.format == null
        && byFormat.size() > 1
        && InputFormat.areOfSpark(byFormat.keySet())) {
      throw refused(
          "the folder has files of several formats, as %s: name those of one by a pattern, such as '%s'"
              .formatted(
                  String.join(
                      " and ",
                      byFormat.values().stream()
                          .limit(2)
                          .map(folder::relativize)
                          .map(Path::toString)
                          .toList()),
                  folder.resolve("*." + byFormat.keySet().iterator().next())));
    }
    if (byFormat.size() == 1) {
      checkFile(byFormat.values().iterator().next());
    }
  }

  private static boolean isHidden(Path relative) {
    for (Path part : relative) {
      if (InputFile.isHidden(part.toString())) {
        return true;
      }
    }
    return false;
  }

  private static Optional<String> ofName(Path file) {
    return file.getFileName() == null
        ? Optional.empty()
        : InputFormat.byName(file.getFileName().toString());
  }
}
