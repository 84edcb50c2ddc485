// SPDX-License-Identifier: Apache-2.0
package org.ddstore.fabric;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.ddstore.nativeio.NativeLibrary;
import org.ddstore.types.DDStoreException;

/**
 * The libfabric library of this host, loaded once into this JVM on first use, and never unloaded.
 * Safe for use by several threads. Never throws at load: {@link #problem()} names the missing part.
 */
final class FabricLibrary {
  /** System property that names another file than {@value #FILE}, by path or soname. */
  static final String PROPERTY = "ddstore.fabric.library";

  private static final String FILE = "libfabric.so.1";
  private static final int TEXT_BYTES = 512;

  private static final FabricLibrary INSTANCE = load();

  private final long handle;
  private final String problem;

  private FabricLibrary(long handle, String problem) {
    this.handle = handle;
    this.problem = problem;
  }

  static FabricLibrary get() {
    return INSTANCE;
  }

  private static FabricLibrary load() {
    if (!NativeLibrary.isLoaded()) {
      return new FabricLibrary(
          0, "libddstore.so is not loaded: " + NativeLibrary.problem().orElse(""));
    }
    if (!NativeLibrary.hasLibfabric()) {
      return new FabricLibrary(
          0,
          "this build was compiled without libfabric's headers: install libfabric-dev and build again");
    }
    byte[] why = new byte[TEXT_BYTES];
    long handle = FabricNative.load(text(System.getProperty(PROPERTY, FILE)), why);
    return handle > 0
        ? new FabricLibrary(handle, null)
        : new FabricLibrary(
            0,
            "%s; install libfabric (libfabric1 on Debian and Ubuntu) on every host, or name its file with -D%s"
                .formatted(text(why), PROPERTY));
  }

  /** Returns why the library cannot be used, and the remedy; empty if it can. */
  Optional<String> problem() {
    return Optional.ofNullable(problem);
  }

  /** Returns the version, such as {@code libfabric 1.17}. */
  String version() {
    int version = FabricNative.version(handle());
    return "libfabric %d.%d".formatted(version >>> Short.SIZE, version & 0xFFFF);
  }

  long handle() {
    if (problem != null) {
      throw new DDStoreException("fabric: " + problem);
    }
    return handle;
  }

  /** Returns the offers, best first, that can be bound to a host's address; empty for any. */
  List<FabricOffer> offers(String host) {
    String[] texts = FabricNative.offers(handle(), textOrNull(host));
    List<FabricOffer> offers = new ArrayList<>();
    for (int i = 0; i < texts.length; i += FabricNative.OFFER_COLUMNS) {
      offers.add(new FabricOffer(texts[i], texts[i + 1], texts[i + 3], texts[i + 4]));
    }
    return offers.stream().distinct().toList();
  }

  /**
   * @param error negative error code, as libfabric returns it
   */
  DDStoreException failure(String call, int error) {
    return new DDStoreException("%s: %s".formatted(call, errorText(error)));
  }

  String errorText(int error) {
    byte[] text = new byte[TEXT_BYTES];
    FabricNative.errorText(handle(), -error, text);
    return "%s (error %d)".formatted(text(text), -error);
  }

  static byte[] room() {
    return new byte[TEXT_BYTES];
  }

  static byte[] text(String text) {
    return (text + "\0").getBytes(StandardCharsets.UTF_8);
  }

  static byte[] textOrNull(String text) {
    return text.isEmpty() ? null : text(text);
  }

  static String text(byte[] text) {
    int end = 0;
    while (end < text.length && text[end] != 0) {
      end++;
    }
    return new String(text, 0, end, StandardCharsets.UTF_8);
  }
}
