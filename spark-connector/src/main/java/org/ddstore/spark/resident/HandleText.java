// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.resident;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;

/** Handles as texts and files. */
public final class HandleText {
  private HandleText() {}

  /** Returns a handle as one line of JSON. */
  public static String write(OutsideHandle handle) {
    return HandleJson.write(handle);
  }

  /**
   * Returns the handle of a text.
   *
   * @throws IllegalArgumentException if the text is no handle
   */
  public static OutsideHandle parse(String json) {
    return HandleJson.parse(json);
  }

  /** Replaces a file by a handle at once, readable for its user only. */
  public static void save(OutsideHandle handle, Path path) throws IOException {
    Path target = path.toAbsolutePath();
    Path made =
        Files.createTempFile(
            target.getParent(),
            "." + target.getFileName(),
            null,
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
    try {
      Files.writeString(made, write(handle) + "\n");
      Files.move(made, target, StandardCopyOption.ATOMIC_MOVE);
    } finally {
      Files.deleteIfExists(made);
    }
  }

  /**
   * Returns the handle of a file.
   *
   * @throws IllegalArgumentException if its text is no handle
   */
  public static OutsideHandle read(Path path) throws IOException {
    HandleJson.checkSize(Files.size(path));
    return parse(Files.readString(path, StandardCharsets.UTF_8));
  }
}
