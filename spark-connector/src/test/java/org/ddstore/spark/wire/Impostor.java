// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.wire;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.concurrent.CompletableFuture;
import org.ddstore.types.ProcessAddress;

/** Listens where a peer is said to be, and answers whatever comes by the same bytes. */
public final class Impostor implements AutoCloseable {
  private final ServerSocket listener;
  private final byte[] answer;
  private final boolean unasked;
  private final CompletableFuture<Void> end = new CompletableFuture<>();
  private volatile Socket client;

  /**
   * @param host a loopback address
   * @param unasked whether it speaks first
   */
  public Impostor(String host, byte[] answer, boolean unasked) throws IOException {
    this.answer = answer.clone();
    this.unasked = unasked;
    this.listener = new ServerSocket(0, 1, InetAddress.getByName(host));
    new Thread(this::serve, "impostor").start();
  }

  public ProcessAddress address() {
    return new ProcessAddress(
        listener.getInetAddress().getHostAddress(), listener.getLocalPort(), 1);
  }

  private void serve() {
    byte[] some = new byte[4096];
    try (Socket accepted = listener.accept()) {
      client = accepted;
      boolean speak = unasked;
      while (speak || accepted.getInputStream().read(some) > 0) {
        accepted.getOutputStream().write(answer);
        speak = false;
      }
    } catch (IOException e) {
      // The client has had enough.
    } finally {
      end.complete(null);
    }
  }

  /** Returns when the client has closed the connection. */
  void awaitEnd() {
    end.join();
  }

  @Override
  public void close() throws IOException {
    listener.close();
    if (client != null) {
      client.close();
    }
    end.join();
  }
}
