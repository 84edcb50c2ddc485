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
  private final SampleFormat format;
  private final FormatOptions options;
  private final List<String> paths;
  private final List<String> suffixes;

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
    } catch (IOException | IllegalArgumentException e) { // of names that Hadoop cannot represent
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
    files.sort(Comparator.comparing(FileListing::pathBytes, Arrays::compareUnsigned));
    return files;
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
      if (InputFile.isHidden(child.name())) {
        continue;
      }
      if (child.isFolder()) {
        addAll(child, found);
      } else if (hasSuffix(child.name())) {
        found.put(child.path(), child);
      }
    }
  }

  private boolean hasSuffix(String name) {
    String lower = name.toLowerCase(Locale.ROOT);
    return suffixes.isEmpty() || suffixes.stream().anyMatch(lower::endsWith);
  }
}
