// SPDX-License-Identifier: Apache-2.0
package org.ddstore.cli;

import java.io.IOException;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.ServerSocket;
import java.net.SocketException;
import java.net.UnknownHostException;
import java.util.List;
import org.ddstore.local.EmbeddedSpark;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;

/** The value of {@code --listen}: an address of this machine that other hosts connect to. */
final class ListenAddress {
  private ListenAddress() {}

  /**
   * Returns the address of a host, as Spark writes it.
   *
   * @throws ParameterException if it is no address of this machine
   */
  static String of(String host, CommandSpec command) {
    InetAddress address;
    try {
      address = InetAddress.getByName(host.isBlank() ? "?" : host); // blank would be loopback
    } catch (UnknownHostException e) {
      throw refused(host, "no such host", command);
    }
    if (address.isAnyLocalAddress()) {
      throw refused(host, "no address that other hosts can connect to", command);
    }
    try (ServerSocket socket = new ServerSocket(0, 1, address)) {
      String text = socket.getInetAddress().getHostAddress();
      return address instanceof Inet6Address ? "[" + text.replaceFirst("%.*", "") + "]" : text;
    } catch (IOException e) {
      throw refused(host, "not an address of this machine", command);
    }
  }

  private static ParameterException refused(String host, String problem, CommandSpec command) {
    return new ParameterException(
        command.commandLine(),
        "--listen %s: %s: choose one of %s".formatted(host, problem, addresses()));
  }

  private static List<String> addresses() {
    try {
      return NetworkInterface.networkInterfaces()
          .flatMap(NetworkInterface::inetAddresses)
          .filter(address -> !address.isLinkLocalAddress())
          .map(address -> address.getHostAddress().replaceFirst("%.*", ""))
          .sorted()
          .toList();
    } catch (SocketException e) {
      return List.of(EmbeddedSpark.LOOPBACK);
    }
  }
}
