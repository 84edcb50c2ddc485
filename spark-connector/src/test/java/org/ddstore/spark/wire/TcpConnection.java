// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.wire;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;

/**
 * An established connection of TCP, as one of its ends is listed in /proc/net/tcp and tcp6:
 * proc(5).
 *
 * @param localPort of the end that is listed
 * @param remoteAddress of the other end, IPv4
 */
public record TcpConnection(int localPort, String remoteAddress, int remotePort) {
  private static final String ESTABLISHED = "01";
  private static final int LOCAL = 1;
  private static final int REMOTE = 2;
  private static final int STATE = 3;
  private static final int IPV4_DIGITS = 8;

  /**
   * The ends in the network of a process, its own and those of others.
   *
   * @param pid also of another network namespace
   */
  public static List<TcpConnection> inNetworkOf(long pid) throws IOException {
    List<TcpConnection> all = new ArrayList<>();
    for (String table : List.of("tcp", "tcp6")) {
      Path path = Path.of("/proc/" + pid + "/net/" + table);
      List<String> lines = Files.readAllLines(path);
      for (String line : lines.subList(1, lines.size())) {
        String[] words = line.strip().split(" +", -1);
        if (words[STATE].equals(ESTABLISHED)) {
          all.add(
              new TcpConnection(port(words[LOCAL]), address(words[REMOTE]), port(words[REMOTE])));
        }
      }
    }
    return all;
  }

  private static int port(String end) {
    return HexFormat.fromHexDigits(end.substring(end.indexOf(':') + 1));
  }

  /** The last 4 bytes, in the order of this machine, which is little-endian; IPv6 maps IPv4. */
  private static String address(String end) {
    int colon = end.indexOf(':');
    int bits = HexFormat.fromHexDigits(end.substring(colon - IPV4_DIGITS, colon));
    return "%d.%d.%d.%d"
        .formatted(bits & 0xFF, bits >>> 8 & 0xFF, bits >>> 16 & 0xFF, bits >>> 24 & 0xFF);
  }
}
