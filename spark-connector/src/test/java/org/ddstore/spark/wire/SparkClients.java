// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.wire;

import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.concurrent.TimeUnit;
import org.apache.spark.network.TransportContext;
import org.apache.spark.network.client.TransportClient;
import org.apache.spark.network.client.TransportClientFactory;
import org.apache.spark.network.server.NoOpRpcHandler;
import org.ddstore.spark.wire.connection.Handshake;
import org.ddstore.spark.wire.connection.Status;
import org.ddstore.spark.wire.connection.StoreToken;
import org.ddstore.spark.wire.connection.WireOptions;
import org.ddstore.types.ProcessAddress;

/** Opens connections as any process of the same application can, which knows no store. */
final class SparkClients implements AutoCloseable {
  private static final long PATIENCE_MS = 60_000;

  private final TransportContext context;
  private final TransportClientFactory factory;

  SparkClients(WireOptions options) {
    context = new TransportContext(options.transportConf(), new NoOpRpcHandler(), true);
    factory = context.createClientFactory(options.clientBootstraps());
  }

  /** A connection, authenticated and encrypted as the options say. */
  Client connect(ProcessAddress to) throws IOException, InterruptedException {
    return new Client(factory.createUnmanagedClient(to.host(), to.port()), to);
  }

  @Override
  public void close() {
    factory.close();
    context.close();
  }

  /** One connection. */
  static final class Client implements AutoCloseable {
    private final TransportClient client;
    private final ProcessAddress server;

    private Client(TransportClient client, ProcessAddress server) {
      this.client = client;
      this.server = server;
    }

    /** Waits for the answer. */
    ByteBuffer ask(ByteBuffer request) {
      return client.sendRpcSync(request, PATIENCE_MS);
    }

    /** The status that a request is answered by. */
    byte statusOf(ByteBuffer request) {
      return ask(request).get();
    }

    void say(ByteBuffer message) {
      client.send(message);
    }

    /** Sends bytes in place of a frame. */
    @SuppressWarnings("FutureReturnValueIgnored") // what becomes of the connection is awaited
    void sendBytes(byte[] bytes) {
      client.getChannel().writeAndFlush(Unpooled.wrappedBuffer(bytes));
    }

    /** Proves a token, as a reader of its store does; gives the proof that it sent. */
    ByteBuffer prove(StoreToken token, ProcessAddress self) {
      Handshake handshake = Handshake.begin(token.id(), server, self);
      ByteBuffer answer = ask(handshake.hello());
      checkOk(answer.get());
      ByteBuffer proof = handshake.prove(answer, token);
      checkOk(statusOf(proof.duplicate()));
      return proof;
    }

    private static void checkOk(byte status) {
      if (status != Status.OK) {
        throw new IllegalStateException("refused: status " + status);
      }
    }

    /** Waits until the server has closed the connection. */
    boolean isRefused() throws InterruptedException {
      return client.getChannel().closeFuture().await(PATIENCE_MS, TimeUnit.MILLISECONDS);
    }

    @Override
    public void close() {
      client.close();
    }
  }
}
