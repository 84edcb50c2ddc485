// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.wire;

import io.netty.channel.Channel;
import io.netty.channel.ChannelPipeline;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.BindException;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.apache.spark.network.TransportContext;
import org.apache.spark.network.client.TransportClientBootstrap;
import org.apache.spark.network.client.TransportClientFactory;
import org.apache.spark.network.server.TransportServer;
import org.apache.spark.network.server.TransportServerBootstrap;
import org.apache.spark.network.util.NettyUtils;
import org.apache.spark.network.util.TransportFrameDecoder;
import org.ddstore.memory.Nonce;
import org.ddstore.read.GatherKernels;
import org.ddstore.spark.types.OptionKeys;
import org.ddstore.spark.wire.connection.Connections;
import org.ddstore.spark.wire.connection.FrameGuard;
import org.ddstore.spark.wire.connection.ReadGrants;
import org.ddstore.spark.wire.connection.RefusalLog;
import org.ddstore.spark.wire.connection.StoreToken;
import org.ddstore.spark.wire.connection.UnauthenticatedConnections;
import org.ddstore.spark.wire.connection.WireOptions;
import org.ddstore.spark.wire.rows.DataPaths;
import org.ddstore.spark.wire.rows.DataServer;
import org.ddstore.spark.wire.rows.GatherServer;
import org.ddstore.spark.wire.rows.ServedStores;
import org.ddstore.types.Cleanup;
import org.ddstore.types.DDStoreException;
import org.ddstore.types.ProcessAddress;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The network endpoint of this JVM, shared by all its stores: one server, and one connection per
 * other JVM. Closed when the last store is left.
 */
public final class Wire {
  private static final Logger LOG = LoggerFactory.getLogger(Wire.class);
  private static final int MAX_PORT = 65_535;
  private static final Duration DATA_RETRY = Duration.ofSeconds(5);
  private static final long IDLE_THREAD_SECONDS = 5;

  /** Number of connections that are opened at the same time, each by a thread. */
  private static final int MAX_CONNECTORS = 256;

  private static final AtomicInteger CONNECTORS = new AtomicInteger();

  private static Wire shared; // guarded by Wire.class

  private final WireOptions options;
  private final RefusalLog refusals = new RefusalLog();
  private final UnauthenticatedConnections unauthenticated;
  private final Map<Nonce, WireSession> sessions = new ConcurrentHashMap<>();
  private final TransportContext context;
  private final TransportServer server;
  private final TransportClientFactory factory;
  private final ThreadPoolExecutor connectors;
  private final ProcessAddress local;
  private final Connections connections;
  private final DataPaths paths;
  private boolean closed; // guarded by this
  private final Object dataLock = new Object();
  private final RecentGrants left = new RecentGrants();
  private Optional<DataServer> dataServer = Optional.empty(); // guarded by dataLock, as are these
  private long dataRetryNs = System.nanoTime();
  private boolean dataEnded;
  private String dataProblem = "";

  public Wire(WireOptions options) {
    this.options = options;
    this.unauthenticated =
        new UnauthenticatedConnections(
            refusals, UnauthenticatedConnections.MAX_CONNECTIONS, options.connectTimeout());
    this.context =
        new TransportContext(options.transportConf(), new WireHandler(this, refusals), true);
    this.server = bind();
    this.factory = context.createClientFactory(clientBootstraps());
    this.connectors =
        new ThreadPoolExecutor(
            MAX_CONNECTORS,
            MAX_CONNECTORS,
            IDLE_THREAD_SECONDS,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(),
            Wire::connectorThread);
    connectors.allowCoreThreadTimeOut(true);
    this.local =
        new ProcessAddress(options.host(), server.getPort(), new SecureRandom().nextLong());
    this.connections =
        new Connections(
            local,
            factory,
            connectors,
            options.connectTimeout(),
            peer -> sessions.values().forEach(session -> session.connectionLost(peer)));
    this.paths =
        new DataPaths(
            connections, connectors, options.connectTimeout(), options.usesDataChannels());
  }

  /**
   * Joins a store through the network endpoint shared by all stores of this JVM. Local.
   *
   * @param options options of the endpoint, effective for the first store of a JVM
   * @return session, closed by the caller
   */
  public static WireSession join(StoreToken token, WireOptions options) {
    synchronized (Wire.class) {
      if (shared == null || shared.isClosed()) {
        shared = new Wire(options);
      }
      return shared.join(token);
    }
  }

  /** Joins a store through a separate network endpoint. */
  public static WireSession joinAlone(StoreToken token, WireOptions options) {
    return new Wire(options).join(token);
  }

  synchronized WireSession join(StoreToken token) {
    return sessions.compute(
        token.id(),
        (id, known) -> {
          if (known == null) {
            return new WireSession(this, token);
          }
          known.addUser();
          return known;
        });
  }

  void leave(WireSession session) {
    synchronized (Wire.class) {
      synchronized (this) {
        if (!session.removeUser()) {
          return;
        }
        sessions.remove(session.token().id(), session);
        left.add(session.token().id(), session.grants());
        synchronized (dataLock) {
          dataServer.ifPresent(data -> data.closeChannels(session.token().id()));
        }
        try {
          session.end();
        } finally {
          if (sessions.isEmpty()) {
            close();
          }
        }
      }
    }
  }

  private synchronized boolean isClosed() {
    return closed;
  }

  private void close() {
    closed = true;
    // Connections first, so that pending writes are sent: event loops that shut down close channels
    // before they run the writes queued by other threads.
    Cleanup.runAll(
        Stream.<Runnable>of(
            connections::close,
            this::closeDataServer,
            server::close,
            factory::close,
            connectors::shutdownNow,
            context::close));
  }

  private TransportServer bind() {
    return tryPorts(
        options.firstPort(),
        OptionKeys.SETTING_PORT,
        port -> context.createServer(options.host(), port, serverBootstraps()));
  }

  /**
   * Opens the first port that is free.
   *
   * @param first first port to try; 0 for any
   */
  private <T> T tryPorts(int first, String setting, PortOpener<T> opener) {
    int attempts = first == 0 ? 1 : options.portRetries() + 1;
    Exception last = null;
    for (int i = 0; i < attempts && first + i <= MAX_PORT; i++) {
      try {
        return opener.open(first + i);
      } catch (IOException e) {
        last = e;
        if (!isBindFailure(e)) {
          break;
        }
      } catch (RuntimeException e) {
        if (!isBindFailure(e)) {
          throw e;
        }
        last = e;
      }
    }
    throw new DDStoreException(
        "cannot listen at %s, port %s: %s. Set %s to another first port"
            .formatted(
                options.host(),
                first == 0 ? "any" : first + " and the next",
                last == null ? "no port tried" : last.getMessage(),
                setting),
        last);
  }

  @FunctionalInterface
  private interface PortOpener<T> {
    T open(int port) throws IOException;
  }

  private static boolean isBindFailure(Throwable e) {
    return e instanceof BindException
        || e instanceof UncheckedIOException
        || (e.getCause() != null && isBindFailure(e.getCause()));
  }

  private List<TransportServerBootstrap> serverBootstraps() {
    List<TransportServerBootstrap> all = new ArrayList<>();
    all.add(
        (channel, handler) -> {
          channel
              .pipeline()
              .addLast(FrameGuard.NAME, FrameGuard.ofServer(refusals, unauthenticated));
          return handler;
        });
    all.addAll(options.serverBootstraps());
    return all;
  }

  private List<TransportClientBootstrap> clientBootstraps() {
    List<TransportClientBootstrap> all = new ArrayList<>();
    all.add((client, channel) -> guard(channel));
    all.addAll(options.clientBootstraps());
    return all;
  }

  /** Installs the guard on the channel's thread, so that no byte passes an incomplete pipeline. */
  private void guard(Channel channel) {
    channel.eventLoop().submit(() -> guard(channel.pipeline())).syncUninterruptibly();
  }

  /**
   * Installs the guard and a new decoder. A server never sends first, so bytes received before the
   * guard are discarded with the old decoder, and guard and new decoder see the same frames.
   */
  private void guard(ChannelPipeline pipeline) {
    String decoder = TransportFrameDecoder.HANDLER_NAME;
    pipeline.addBefore(decoder, FrameGuard.NAME, FrameGuard.ofClient(refusals));
    pipeline.replace(decoder, decoder, NettyUtils.createFrameDecoder());
  }

  private static Thread connectorThread(Runnable work) {
    Thread thread = new Thread(work, "ddstore-connect-" + CONNECTORS.incrementAndGet());
    thread.setDaemon(true);
    return thread;
  }

  /** Returns the address at which other processes reach this one. */
  ProcessAddress local() {
    return local;
  }

  /**
   * Returns the server of data channels, which is opened for the first of them; empty if channels
   * would not be as safe as connections, or no port can be opened. This is tried again after a
   * time, because descriptors or ports may be free again.
   */
  Optional<DataServer> dataServer() {
    synchronized (dataLock) {
      boolean mayOpen = options.usesDataChannels() && !dataEnded;
      if (dataServer.isEmpty() && mayOpen && System.nanoTime() - dataRetryNs >= 0) {
        dataServer = openDataServer();
        dataRetryNs = System.nanoTime() + DATA_RETRY.toNanos();
      }
      return dataServer;
    }
  }

  private Optional<DataServer> openDataServer() {
    try {
      return Optional.of(
          tryPorts(
              options.firstDataPort(),
              OptionKeys.SETTING_DATA_PORT,
              port ->
                  new DataServer(
                      options.host(),
                      port,
                      options.dataThreads(),
                      new Stores(),
                      mayUseC(),
                      refusals,
                      options.connectTimeout())));
    } catch (RuntimeException | OutOfMemoryError e) { // connections carry the rows
      String problem = String.valueOf(e.getMessage());
      if (!problem.equals(dataProblem)) {
        LOG.warn("rows are served over Spark's network, which is slower: {}", problem);
      }
      dataProblem = problem;
      return Optional.empty();
    }
  }

  /** Returns the port for readers from outside of Spark, opened for the first of them. */
  OutsidePort outsidePort() {
    if (!options.outsideProblem().isEmpty()) {
      return OutsidePort.none(options.outsideProblem());
    }
    return dataServer()
        .map(server -> OutsidePort.at(server.port()))
        .orElseGet(() -> OutsidePort.none("no data port can be opened, see the log of " + local));
  }

  /** Closes the channels of readers from outside of Spark whose grants have ended. */
  void endGrants() {
    synchronized (dataLock) {
      dataServer.ifPresent(DataServer::endGrants);
    }
  }

  /** The stores of this process, as the data port sees them. */
  private final class Stores implements ServedStores {
    @Override
    public long processId() {
      return local.id();
    }

    @Override
    public GatherServer rows(Nonce store) {
      WireSession session = sessions.get(store);
      return session == null ? null : session.server();
    }

    @Override
    public ReadGrants grants(Nonce store) {
      WireSession session = sessions.get(store);
      return session == null ? left.of(store) : session.grants();
    }
  }

  private void closeDataServer() {
    synchronized (dataLock) {
      Optional<DataServer> open = dataServer;
      dataServer = Optional.empty();
      dataEnded = true; // a late request opens no other
      open.ifPresent(DataServer::close);
    }
  }

  /** Returns whether C serves and receives rows, if its library is loaded. */
  static boolean mayUseC() {
    return GatherKernels.current() != null;
  }

  DataPaths paths() {
    return paths;
  }

  Connections connections() {
    return connections;
  }

  WireSession session(Nonce store) {
    return sessions.get(store);
  }

  String protection() {
    return options.protection();
  }

  /** Returns a human-readable description of what carries the rows, and why. */
  String pathOfRows() {
    return options.pathOfRows();
  }
}
