// SPDX-License-Identifier: Apache-2.0
package org.ddstore.benchmarks.driver;

import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.io.PrintStream;
import java.io.Serializable;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.apache.spark.SparkConf;
import org.apache.spark.network.sasl.SecretKeyHolder;
import org.ddstore.collective.Communicator;
import org.ddstore.collective.GroupEndpoint;
import org.ddstore.memory.ProcessDirectory;
import org.ddstore.spark.backend.OpenTransport;
import org.ddstore.spark.backend.RankPlace;
import org.ddstore.spark.backend.TransportChoice;
import org.ddstore.spark.backend.TransportStart;
import org.ddstore.spark.config.Settings;
import org.ddstore.spark.wire.Wire;
import org.ddstore.spark.wire.WireSession;
import org.ddstore.spark.wire.connection.StoreToken;
import org.ddstore.spark.wire.connection.WireOptions;

/**
 * One rank of a measurement, in its own JVM. It receives its setup on standard input and writes to
 * standard output what {@link RankProcesses} reads: its address, then, on rank 0, each result.
 */
public final class RankJvm {
  static final String ADDRESS = "address ";
  static final String RESULT = "result ";

  /** Time in which the slowest rank must be ready. */
  public static final Duration PATIENCE = Duration.ofMinutes(30);

  /**
   * The setup of a rank.
   *
   * @param host address at which other ranks reach this rank
   * @param secret secret of Spark's authentication, used if the network is encrypted
   * @param settings settings {@code spark.*} of the command
   */
  record Setup(
      RankWork work,
      int rank,
      String host,
      StoreToken token,
      String secret,
      Map<String, String> settings)
      implements Serializable {
    private static final long serialVersionUID = 1L;
  }

  private RankJvm() {}

  public static void main(String[] arguments) throws Exception {
    PrintStream out = System.out;
    System.setOut(System.err);
    BufferedReader in =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
    run((Setup) decode(in.readLine()), in, out);
  }

  private static void run(Setup setup, BufferedReader in, PrintStream out) throws Exception {
    RankWork work = setup.work();
    WireOptions options = options(setup);
    TransportChoice choice =
        TransportChoice.of(
            work.network().transport(),
            new RankPlace(
                setup.rank(),
                setup.host(),
                setup.rank(),
                options.isEncrypted(),
                Settings.of(setup.settings())));
    try (WireSession session = Wire.join(setup.token(), options);
        GroupEndpoint endpoint =
            GroupEndpoint.create(
                session.lanes(ProcessDirectory.SHARED_MEMORY, work.network().shortcut()),
                setup.rank(),
                work.network().ranks())) {
      out.println(ADDRESS + Base64.getEncoder().encodeToString(endpoint.address()));
      List<byte[]> addresses =
          Stream.of(in.readLine().split(",", -1)).map(Base64.getDecoder()::decode).toList();
      try (Communicator ranks = endpoint.connect(addresses, PATIENCE);
          OpenTransport remote =
              choice.open(
                  Arrays.asList(ranks.allGather(choice.offer())),
                  new TransportStart(session, ranks, 0, PATIENCE, PATIENCE))) {
        work.run(ranks, remote, result -> out.println(RESULT + encode(result)));
        remote.end();
      }
    }
  }

  private static WireOptions options(Setup setup) {
    SparkConf conf = new SparkConf(false);
    setup.settings().forEach(conf::set);
    if (!setup.work().network().encrypted()) {
      // The command's Spark may set these, but only --encrypted encrypts a measurement.
      conf.remove("spark.network.crypto.enabled").remove("spark.ssl.rpc.enabled");
      conf.remove("spark.ssl.enabled");
      return WireOptions.of(conf, null, setup.host());
    }
    conf.set("spark.authenticate", "true")
        .set("spark.network.crypto.enabled", "true")
        .set("spark.network.crypto.saslFallback", "false");
    return WireOptions.of(
        conf,
        new SecretKeyHolder() {
          @Override
          public String getSaslUser(String application) {
            return "ddstore";
          }

          @Override
          public String getSecretKey(String application) {
            return setup.secret();
          }
        },
        setup.host());
  }

  /** Returns an object as one line of text. */
  public static String encode(Serializable object) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (ObjectOutputStream stream = new ObjectOutputStream(bytes)) {
      stream.writeObject(object);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return Base64.getEncoder().encodeToString(bytes.toByteArray());
  }

  public static Object decode(String text) throws IOException {
    try (ObjectInputStream stream =
        new ObjectInputStream(new ByteArrayInputStream(Base64.getDecoder().decode(text)))) {
      return stream.readObject();
    } catch (ClassNotFoundException e) {
      throw new IOException(e);
    }
  }
}
