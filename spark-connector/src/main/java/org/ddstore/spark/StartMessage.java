package org.ddstore.spark;

import java.nio.file.Path;
import java.util.Base64;
import org.ddstore.collective.SharedMemoryEndpoint;
import org.ddstore.memory.ProcessDirectory;

/**
 * What a rank says in the one allGather of a start: the address of its collective endpoint. Every
 * rank gets every message from the driver, so it is short: at most {@value #MAX_BYTES} bytes of
 * text.
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

  String encode() {
    String text = Base64.getEncoder().withoutPadding().encodeToString(endpoint);
    if (text.length() > MAX_BYTES) {
      throw new IllegalArgumentException(
          "the start message of a rank has %d bytes, at most %d are sent: %s is too long a path, give a shorter spark.ddstore.directory"
              .formatted(text.length(), MAX_BYTES, SharedMemoryEndpoint.file(endpoint)));
    }
    return text;
  }

  static StartMessage decode(String text) {
    return new StartMessage(Base64.getDecoder().decode(text));
  }
}
