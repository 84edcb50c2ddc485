package org.ddstore.spark;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Base64;

/**
 * What a rank says in the one allGather of a start. Every rank gets every message from the driver,
 * so it is short: at most {@value #MAX_BYTES} bytes of text.
 */
final class StartMessage {
  static final int MAX_BYTES = 256;

  private final byte[] endpoint;
  private final String lockFile;

  /**
   * Makes a message.
   *
   * @param endpoint the address of the rank's collective endpoint
   * @param lockFile the file that is locked as long as the rank's process lives
   */
  StartMessage(byte[] endpoint, String lockFile) {
    this.endpoint = endpoint.clone();
    this.lockFile = lockFile;
  }

  byte[] endpoint() {
    return endpoint.clone();
  }

  String lockFile() {
    return lockFile;
  }

  String encode() {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (DataOutputStream out = new DataOutputStream(bytes)) {
      out.writeShort(endpoint.length);
      out.write(endpoint);
      out.writeUTF(lockFile);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    String text = Base64.getEncoder().withoutPadding().encodeToString(bytes.toByteArray());
    if (text.length() > MAX_BYTES) {
      throw new IllegalArgumentException(
          "the start message of a rank has %d bytes, at most %d are sent: give spark.ddstore.directory a shorter path than %s"
              .formatted(text.length(), MAX_BYTES, lockFile));
    }
    return text;
  }

  static StartMessage decode(String text) {
    byte[] bytes = Base64.getDecoder().decode(text);
    try (DataInputStream in = new DataInputStream(new ByteArrayInputStream(bytes))) {
      byte[] endpoint = in.readNBytes(in.readUnsignedShort());
      return new StartMessage(endpoint, in.readUTF());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
