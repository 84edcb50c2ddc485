// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.wire;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.concurrent.CompletableFuture;
import org.ddstore.types.ProcessAddress;

/** Listens between a client and a server, and keeps what the client says: one connection. */
final class Recorder implements AutoCloseable {
  private final ServerSocket listener;
  private final ProcessAddress server;
  private final ByteArrayOutputStream said = new ByteArrayOutputStream(); // synchronized itself
  private final CompletableFuture<Void> end = new CompletableFuture<>();
  private volatile Socket client;

  Recorder(ProcessAddress server) throws IOException {
    this.server = server;
    this.listener = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
    new Thread(this::forward, "recorder").start();
  }

  /** Returns the address at which clients take the recorder for the server. */
  ProcessAddress address() {
    return new ProcessAddress("127.0.0.1", listener.getLocalPort(), server.id());
  }

  private void forward() {
    try (Socket accepted = listener.accept();
        Socket toServer = new Socket(server.host(), server.port())) {
      client = accepted;
      Thread back = new Thread(() -> copy(toServer, accepted, null), "recorder-back");
      back.start();
      copy(accepted, toServer, said);
      back.join();
    } catch (IOException | InterruptedException e) {
      // Closed before anybody came.
    } finally {
      end.complete(null);
    }
  }

  private static void copy(Socket from, Socket to, ByteArrayOutputStream keep) {
    byte[] bytes = new byte[64 << 10];
    try (from;
        to) {
      InputStream in = from.getInputStream();
      OutputStream out = to.getOutputStream();
      for (int count = in.read(bytes); count > 0; count = in.read(bytes)) {
        if (keep != null) {
          keep.write(bytes, 0, count);
        }
        out.write(bytes, 0, count);
      }
    } catch (IOException e) {
      // One of the two has ended.
    }
  }

  byte[] said() {
    return said.toByteArray();
  }

  /** Ends the connection, if there is one. */
  @Override
  public void close() throws IOException {
    listener.close();
    if (client != null) {
      client.close();
    }
    end.join();
  }
}
