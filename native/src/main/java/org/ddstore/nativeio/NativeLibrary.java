// SPDX-License-Identifier: Apache-2.0
package org.ddstore.nativeio;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Objects;
import java.util.Optional;

/**
 * The C library of this jar, loaded once into this class loader on first use. Safe for use by
 * several threads; the first call blocks for some milliseconds. Never throws: if the library cannot
 * be used, {@link #problem()} returns the reason and the remedy.
 */
public final class NativeLibrary {
  /**
   * System property that names the directory into which the library is extracted. It must be on a
   * file system that allows execution. Default: the temporary directory of the JVM.
   */
  public static final String DIRECTORY_PROPERTY = "ddstore.native.directory";

  /** System property that prevents this JVM from loading the library if set to {@code false}. */
  public static final String ENABLED_PROPERTY = "ddstore.native";

  /** Number of the version of the functions that Java calls, as in {@code library.h}. */
  static final int ABI_VERSION = 8;

  private static final int FEATURE_FABRIC = 1;

  private static final NativeLibrary INSTANCE = load();

  private final int features;
  private final String path;
  private final String problem;

  private NativeLibrary(int features, String path, String problem) {
    this.features = features;
    this.path = path;
    this.problem = problem;
  }

  private static NativeLibrary load() {
    try {
      if (!Boolean.parseBoolean(System.getProperty(ENABLED_PROPERTY, "true"))) {
        throw new LibraryFile.UnusableException("switched off by -D" + ENABLED_PROPERTY + "=false");
      }
      String path = LibraryFile.load(NativeLibrary::pathOf);
      return new NativeLibrary(features(), path, null);
    } catch (LibraryFile.UnusableException e) {
      return new NativeLibrary(0, null, e.getMessage());
    } catch (RuntimeException e) {
      return new NativeLibrary(
          0,
          null,
          "cannot be loaded: %s; set another directory by -D%s=DIRECTORY"
              .formatted(e, DIRECTORY_PROPERTY));
    }
  }

  /** Checks the loaded library, whose file still exists, and returns a path that stays valid. */
  private static String pathOf(Path file) throws LibraryFile.UnusableException {
    int version = abiVersion();
    if (version != ABI_VERSION) {
      throw new LibraryFile.UnusableException(
          "it has ABI version %d, this class needs %d: two versions of DDStore are on the class path"
              .formatted(version, ABI_VERSION));
    }
    int descriptor = open((file + "\0").getBytes(StandardCharsets.UTF_8));
    if (descriptor < 0) {
      throw new LibraryFile.UnusableException(
          "library file %s cannot be kept open: error %d".formatted(file, -descriptor));
    }
    return "/proc/self/fd/" + descriptor;
  }

  public static boolean isLoaded() {
    return INSTANCE.problem == null;
  }

  /** Returns why the library is not loaded, and the remedy; empty if it is loaded. */
  public static Optional<String> problem() {
    return Optional.ofNullable(INSTANCE.problem);
  }

  /** Returns whether the loaded library was compiled with libfabric's headers. */
  public static boolean hasLibfabric() {
    return (INSTANCE.features & FEATURE_FABRIC) != 0;
  }

  /** Returns a path to the loaded library, whose file is deleted, for {@code dlopen}. */
  public static String path() {
    if (!isLoaded()) {
      throw new IllegalStateException("libddstore.so is not loaded: " + INSTANCE.problem);
    }
    return Objects.requireNonNull(INSTANCE.path);
  }

  /** Returns a human-readable state: loaded, with its features, or the reason why not. */
  public static String description() {
    if (!isLoaded()) {
      return INSTANCE.problem;
    }
    return hasLibfabric() ? "loaded" : "loaded, compiled without libfabric's headers";
  }

  private static native int abiVersion();

  private static native int features();

  /** Returns a descriptor of a file, or -errno; the path ends with a zero byte. */
  private static native int open(byte[] path);
}
