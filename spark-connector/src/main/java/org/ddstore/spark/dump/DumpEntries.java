// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.dump;

import java.io.FileNotFoundException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.hadoop.fs.FileStatus;

/**
 * The entries of the directory of a dump.
 *
 * @param manifests names of the manifests, newest first
 * @param folders names of the folders of data files
 * @param others names of entries that belong to no dump
 */
record DumpEntries(List<String> manifests, List<String> folders, List<String> others) {
  private static final Pattern MANIFEST = Pattern.compile("manifest-(\\d{8})-[0-9a-f]{32}");
  private static final Pattern FOLDER = Pattern.compile("rows-[0-9a-f]{32}");
  private static final DumpEntries NONE = new DumpEntries(List.of(), List.of(), List.of());

  enum Kind {
    ABSENT,
    FILE,
    DIRECTORY
  }

  static Kind kind(DumpDirectory directory) {
    return directory.access(
        "read",
        "",
        files -> {
          try {
            FileStatus status = files.getFileStatus(directory.entry(""));
            return status.isDirectory() ? Kind.DIRECTORY : Kind.FILE;
          } catch (FileNotFoundException e) {
            return Kind.ABSENT;
          }
        });
  }

  /** Lists a directory. */
  static DumpEntries of(DumpDirectory directory) {
    DumpEntries entries = new DumpEntries(new ArrayList<>(), new ArrayList<>(), new ArrayList<>());
    for (FileStatus status : directory.list("")) {
      String name = status.getPath().getName();
      if (!status.isDirectory() && MANIFEST.matcher(name).matches()) {
        entries.manifests.add(name);
      } else if (status.isDirectory() && FOLDER.matcher(name).matches()) {
        entries.folders.add(name);
      } else if (!name.startsWith(".")) { // hidden, such as the checksums of local file systems
        entries.others.add(name);
      }
    }
    entries.manifests.sort(Comparator.reverseOrder());
    return entries;
  }

  static DumpEntries none() {
    return NONE;
  }

  boolean isEmpty() {
    return manifests.isEmpty() && folders.isEmpty() && others.isEmpty();
  }

  static String folder(String id) {
    return "rows-" + id;
  }

  /** Returns the name of a manifest that follows those of these entries. */
  String nextManifest(String id) {
    int last = 0;
    for (String name : manifests) {
      Matcher number = MANIFEST.matcher(name);
      if (number.matches()) {
        last = Math.max(last, Integer.parseInt(number.group(1)));
      }
    }
    return "manifest-%08d-%s".formatted(last + 1, id);
  }
}
