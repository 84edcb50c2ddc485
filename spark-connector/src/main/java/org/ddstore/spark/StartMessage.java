package org.ddstore.spark;

import java.nio.file.Path;
import java.util.Base64;
import org.ddstore.collective.SharedMemoryEndpoint;
import org.ddstore.memory.ProcessDirectory;

/**
 * What a rank says in the one allGather of a start: the address of its collective endpoint. Every
 * rank gets every message from the driver, so it is short: at most {@value #MAX_BYTES} bytes of
 * text. The directory that all ranks are told by the settings is left out.
 */
final class StartMessage {
  static final int MAX_BYTES = 256;

  private final byte[] endpoint;

  StartMessage(byte[] endpoint) {
    this.endpoint = endpoint.clone();
  }

  byte[] endpoint() {
    return endpoint.clone();
  }

  /** The file that is locked as long as the rank's process lives: it lies beside the endpoint's. */
  Path lockFile() {
    return ProcessDirectory.lockFileBeside(SharedMemoryEndpoint.file(endpoint));
  }

  /**
   * @param root the directory under which the endpoint's file lies, the same on all ranks
   */
  String encode(Path root) {
    byte[] relative = SharedMemoryEndpoint.relativize(endpoint, root);
    String text = Base64.getEncoder().withoutPadding().encodeToString(relative);
    if (text.length() > MAX_BYTES) {
      throw new IllegalArgumentException(
          "the start message of a rank has %d bytes, at most %d are sent: %s"
              .formatted(text.length(), MAX_BYTES, SharedMemoryEndpoint.file(relative)));
    }
    return text;
  }

  static StartMessage decode(String text, Path root) {
    return new StartMessage(SharedMemoryEndpoint.resolve(Base64.getDecoder().decode(text), root));
  }
}
