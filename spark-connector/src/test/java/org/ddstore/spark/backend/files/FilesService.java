// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.backend.files;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.ddstore.transport.TransportProvider;

/** The only line that adds the {@code files} transport: a service file for the class path. */
public final class FilesService {
  private FilesService() {}

  /** Writes the service file; returns this class path with it. */
  public static String classPath(Path directory) throws IOException {
    Path services = Files.createDirectories(directory.resolve("META-INF/services"));
    Files.writeString(
        services.resolve(TransportProvider.class.getName()),
        FilesTransportBackend.class.getName() + "\n");
    return directory + File.pathSeparator + System.getProperty("java.class.path");
  }
}
