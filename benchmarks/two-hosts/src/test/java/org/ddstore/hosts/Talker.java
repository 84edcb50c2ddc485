// SPDX-License-Identifier: Apache-2.0
package org.ddstore.hosts;

import java.io.BufferedReader;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * Two programs that talk: one sends back what comes, the other does what it reads. Both end with
 * their standard input.
 */
final class Talker {
  private static final int CONNECT_TIMEOUT_MS = 2000;

  private Talker() {}

  /**
   * {@code serve ADDRESS}: prints the port. {@code call}: reads {@code connect HOST PORT}, then
   * numbers; prints what came of each.
   */
  public static void main(String[] args) throws Exception {
    BufferedReader in =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    if (args[0].equals("serve")) {
      serve(args[1], in);
    } else {
      call(in);
    }
  }

  private static void serve(String address, BufferedReader in) throws IOException {
    try (ServerSocket server = new ServerSocket(0, 0, InetAddress.getByName(address))) {
      Thread accepting = new Thread(() -> accept(server));
      accepting.setDaemon(true);
      accepting.start();
      System.out.println(server.getLocalPort());
      in.readLine();
    }
  }

  private static void accept(ServerSocket server) {
    while (!server.isClosed()) {
      try (Socket socket = server.accept()) {
        socket.getInputStream().transferTo(socket.getOutputStream());
      } catch (IOException e) {
        System.err.println(e);
      }
    }
  }

  private static void call(BufferedReader in) throws IOException {
    Socket socket = null;
    System.out.println(InetAddress.getLocalHost());
    for (String line = in.readLine(); line != null; line = in.readLine()) {
      String[] words = line.split(" ", -1);
      try {
        if (words[0].equals("connect")) {
          socket = new Socket();
          socket.connect(
              new InetSocketAddress(words[1], Integer.parseInt(words[2])), CONNECT_TIMEOUT_MS);
          System.out.println("connected");
        } else {
          System.out.println("echoed " + echo(socket, Integer.parseInt(words[0])));
        }
      } catch (IOException e) {
        System.out.println(e);
      }
    }
  }

  /** Writes from another thread: the way back must not fill up meanwhile. */
  private static int echo(Socket socket, int lengthBytes) throws IOException {
    byte[] bytes = new byte[lengthBytes];
    Arrays.fill(bytes, (byte) 7);
    Thread writer =
        new Thread(
            () -> {
              try {
                socket.getOutputStream().write(bytes);
              } catch (IOException e) {
                throw new UncheckedIOException(e);
              }
            });
    writer.start();
    byte[] got = new byte[lengthBytes];
    new DataInputStream(socket.getInputStream()).readFully(got);
    if (!Arrays.equals(bytes, got)) {
      throw new IOException("other bytes came back");
    }
    return got.length;
  }
}
