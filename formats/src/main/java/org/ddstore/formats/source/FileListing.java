// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.source;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystemException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.apache.spark.sql.SparkSession;
import org.ddstore.formats.FormatOptions;
import org.ddstore.formats.InputFile;
import org.ddstore.formats.SampleFormat;

/** The files of a read, ordered by the bytes of their paths. */
final class FileListing {
  /** The order of the bytes of the paths. */
  static final Comparator<InputFile> ROW_ORDER =
      Comparator.comparing(FileListing::pathBytes, Arrays::compareUnsigned);

  private final SampleFormat format;
  private final FormatOptions options;
  private final List<String> paths;
  private final List<String> suffixes;
  private final List<InputFile> leftOut = new ArrayList<>();

  FileListing(SampleFormat format, CommonOptions read) {
    this.format = format;
    this.options = read.options();
    this.paths = read.paths();
    this.suffixes = format.suffixes(read.options());
  }

  /**
   * Lists the files. A file that two patterns match is listed once. A file that the caller names is
   * listed whatever its suffix; of a folder, those with a suffix of the format.
   *
   * @throws IllegalArgumentException if there are none
   */
  List<InputFile> list(SparkSession session) {
    InputFile.Hadoop hadoop = new BroadcastHadoop(session);
    Map<String, InputFile> found = new TreeMap<>();
    try {
      for (String path : paths) {
        for (InputFile match : InputFile.matching(path, hadoop)) {
          if (match.isFolder()) {
            addAll(match, found);
          } else {
            found.put(match.path(), match);
          }
        }
      }
    } catch (FileNotFoundException e) {
      throw new IllegalArgumentException(
          "format %s: %s".formatted(format.name(), e.getMessage()), e);
    } catch (IOException | IllegalArgumentException e) { // the latter for illegal names
      throw new IllegalArgumentException(
          "format %s: cannot list %s: %s".formatted(format.name(), paths, reason(e)), e);
    }
    if (found.isEmpty()) {
      throw new IllegalArgumentException(
          "format %s: no file in %s%s"
              .formatted(
                  format.name(),
                  paths,
                  suffixes.isEmpty()
                      ? ""
                      : " has a name that ends with " + String.join(" or ", suffixes)));
    }
    List<InputFile> files = new ArrayList<>(found.values());
    files.sort(ROW_ORDER);
    return files;
  }

  /**
   * Returns the files and folders that {@link #list} has found in folders and left out: files
   * without a suffix of the format, unless the caller has chosen the suffixes; folders whose names
   * begin with {@code _}; and files of the format whose names begin with a dot.
   */
  List<InputFile> leftOut() {
    return leftOut;
  }

  /** Some exceptions of file systems have the path alone as their message. */
  private static String reason(Exception e) {
    return e instanceof FileSystemException ? e.toString() : e.getMessage();
  }

  private static byte[] pathBytes(InputFile file) {
    return file.path().getBytes(StandardCharsets.UTF_8);
  }

  private void addAll(InputFile folder, Map<String, InputFile> found) throws IOException {
    if (format.isUnit(folder, options)) {
      found.put(folder.path(), folder);
      return;
    }
    for (InputFile child : folder.children()) {
      String name = child.name();
      if (InputFile.isHidden(name)) {
        if (!child.isFolder() && !suffixes.isEmpty() && hasSuffix(name)) {
          leftOut.add(child);
        }
      } else if (child.isFolder() && !name.startsWith("_")) {
        addAll(child, found);
      } else if (!child.isFolder() && hasSuffix(name)) {
        found.put(child.path(), child);
      } else if (child.isFolder() || suffixes.equals(format.suffixes())) {
        leftOut.add(child);
      }
    }
  }

  private boolean hasSuffix(String name) {
    String lower = name.toLowerCase(Locale.ROOT);
    return suffixes.isEmpty() || suffixes.stream().anyMatch(lower::endsWith);
  }
}
