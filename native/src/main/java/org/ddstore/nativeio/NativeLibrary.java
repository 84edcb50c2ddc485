package org.ddstore.nativeio;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Objects;
import java.util.Optional;

/**
 * The C library of this jar, loaded once into this class loader when it is first asked for. Any
 * thread; the first call blocks for some milliseconds. Never throws: where the library cannot be
 * used, {@link #problem()} says why and what helps.
 */
public final class NativeLibrary {
  /**
   * The system property that names the directory into which the library is unpacked: one of a file
   * system from which programs may be run. Else the temporary directory of the JVM.
   */
  public static final String DIRECTORY_PROPERTY = "ddstore.native.directory";

  /** The system property that, set to {@code false}, keeps this JVM from loading the library. */
  public static final String ENABLED_PROPERTY = "ddstore.native";

  /** Raised with every change of what Java calls; {@code library.h} has the same number. */
  static final int ABI_VERSION = 5;

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
          "cannot be loaded: %s; -D%s=DIRECTORY names the directory to load it from"
              .formatted(e, DIRECTORY_PROPERTY));
    }
  }

  /** Checks the loaded library, whose file is still there, and gives it a path that stays. */
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
          "%s cannot be kept open: error %d".formatted(file, -descriptor));
    }
    return "/proc/self/fd/" + descriptor;
  }

  /** True if its methods may be called. */
  public static boolean isLoaded() {
    return INSTANCE.problem == null;
  }

  /** Why the library is not loaded, and what helps; empty if it is. */
  public static Optional<String> problem() {
    return Optional.ofNullable(INSTANCE.problem);
  }

  /** True if it was compiled where libfabric's headers were; false also if it is not loaded. */
  public static boolean hasFabric() {
    return (INSTANCE.features & FEATURE_FABRIC) != 0;
  }

  /**
   * A path in this process that leads to the loaded library itself as long as the process lives,
   * though its file is deleted: {@code dlopen} of it gives the library that Java uses, not a second
   * copy.
   *
   * @throws IllegalStateException if it is not loaded
   */
  public static String path() {
    if (!isLoaded()) {
      throw new IllegalStateException("libddstore.so is not loaded: " + INSTANCE.problem);
    }
    return Objects.requireNonNull(INSTANCE.path);
  }

  /** For people: loaded, with what; or why not. */
  public static String description() {
    if (!isLoaded()) {
      return INSTANCE.problem;
    }
    return hasFabric() ? "loaded" : "loaded, compiled without libfabric's headers";
  }

  private static native int abiVersion();

  private static native int features();

  /** A descriptor of a file, or -errno; the path ends with a zero. */
  private static native int open(byte[] path);
}
