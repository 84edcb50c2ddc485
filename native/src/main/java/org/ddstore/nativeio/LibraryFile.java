// SPDX-License-Identifier: Apache-2.0
package org.ddstore.nativeio;

import static java.nio.file.LinkOption.NOFOLLOW_LINKS;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.nio.file.attribute.UserPrincipal;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;

/**
 * The native library file: extracted from the jar into a new directory of mode 0700, and loaded.
 * The name is new each time, so that JVMs and class loaders do not conflict; the file is deleted
 * after loading.
 */
final class LibraryFile {
  private static final String NAME = "libddstore.so";
  private static final String PREFIX = "ddstore-native-";

  /** Far longer than a JVM takes to unpack and load the file, after which it deletes both. */
  private static final Duration MAX_AGE = Duration.ofHours(1);

  private static final Map<String, String> ARCHITECTURES =
      Map.of("amd64", "x86_64", "x86_64", "x86_64", "aarch64", "aarch64");

  private LibraryFile() {}

  /** An exception with a human-readable reason why the library cannot be used. */
  static final class UnusableException extends Exception {
    private static final long serialVersionUID = 1;

    UnusableException(String reason) {
      super(reason);
    }
  }

  /** An action on the loaded library while its file exists. */
  interface Loaded {
    String in(Path file) throws UnusableException;
  }

  /** Loads the library into this class's loader and returns the result of {@code then}. */
  static String load(Loaded then) throws UnusableException {
    String resource = resource();
    Path root =
        Path.of(
                System.getProperty(
                    NativeLibrary.DIRECTORY_PROPERTY, System.getProperty("java.io.tmpdir")))
            .toAbsolutePath(); // System.load requires an absolute path
    Path directory = null;
    try (InputStream library = open(resource)) {
      directory =
          Files.createTempDirectory(
              root,
              PREFIX,
              PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
      deleteOfKilled(root, Files.getOwner(directory));
      Path file = directory.resolve(NAME);
      Files.copy(library, file, StandardCopyOption.REPLACE_EXISTING);
      System.load(file.toString());
      return then.in(file);
    } catch (IOException e) {
      throw new UnusableException(
          "cannot be unpacked in %s: %s; set another directory by -D%s=DIRECTORY"
              .formatted(root, e, NativeLibrary.DIRECTORY_PROPERTY));
    } catch (UnsatisfiedLinkError e) {
      throw new UnusableException(linkProblem(root, e));
    } finally {
      delete(directory);
    }
  }

  private static String resource() throws UnusableException {
    String system = System.getProperty("os.name");
    String architecture = ARCHITECTURES.get(System.getProperty("os.arch"));
    if (!"Linux".equals(system) || architecture == null) {
      throw new UnusableException(
          "not available for %s on %s".formatted(system, System.getProperty("os.arch")));
    }
    return "/META-INF/native/linux-" + architecture + "/";
  }

  private static InputStream open(String folder) throws IOException, UnusableException {
    InputStream library = LibraryFile.class.getResourceAsStream(folder + NAME);
    if (library != null) {
      return library;
    }
    try (InputStream missing =
        LibraryFile.class.getResourceAsStream(folder + "libddstore.missing")) {
      throw new UnusableException(
          missing == null
              ? "this jar was built on another architecture and has no " + folder + NAME
              : "this jar was built without %s: apt-get install gcc cmake make libfabric-dev, and build again"
                  .formatted(new String(missing.readAllBytes(), StandardCharsets.UTF_8).strip()));
    }
  }

  /** Returns the reason of a link error; the linker's own does not name a noexec mount. */
  private static String linkProblem(Path root, UnsatisfiedLinkError e) {
    if (String.valueOf(e.getMessage()).contains("failed to map segment")) {
      return "execution is not allowed in %s (mounted noexec?): set another directory by -D%s=DIRECTORY"
          .formatted(root, NativeLibrary.DIRECTORY_PROPERTY);
    }
    return "cannot be linked: " + e.getMessage();
  }

  /** Deletes what JVMs of this user have left that were killed while they loaded the library. */
  private static void deleteOfKilled(Path root, UserPrincipal user) {
    FileTime oldest = FileTime.from(Instant.now().minus(MAX_AGE));
    try (DirectoryStream<Path> left = Files.newDirectoryStream(root, PREFIX + "*")) {
      for (Path directory : left) {
        if (Files.isDirectory(directory, NOFOLLOW_LINKS)
            && Files.getOwner(directory).equals(user)
            && Files.getLastModifiedTime(directory).compareTo(oldest) < 0) {
          delete(directory);
        }
      }
    } catch (IOException | UnusableException e) {
      // Deleted by another JVM meanwhile, or not to be listed: the next load tries it again.
    }
  }

  private static void delete(Path directory) throws UnusableException {
    if (directory == null) {
      return;
    }
    try {
      Files.deleteIfExists(directory.resolve(NAME));
      Files.deleteIfExists(directory);
    } catch (IOException e) {
      throw new UnusableException("cannot delete %s: %s".formatted(directory, e));
    }
  }
}
