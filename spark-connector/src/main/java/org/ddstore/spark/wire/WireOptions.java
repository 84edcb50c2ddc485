package org.ddstore.spark.wire;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import org.apache.spark.SecurityManager;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkEnv;
import org.apache.spark.network.client.TransportClientBootstrap;
import org.apache.spark.network.crypto.AuthClientBootstrap;
import org.apache.spark.network.crypto.AuthServerBootstrap;
import org.apache.spark.network.sasl.SecretKeyHolder;
import org.apache.spark.network.server.TransportServerBootstrap;
import org.apache.spark.network.util.ConfigProvider;
import org.apache.spark.network.util.TransportConf;
import scala.Tuple2;

/**
 * How the network end of a JVM is set up: by Spark's own settings, {@code spark.authenticate},
 * {@code spark.network.crypto.*} and {@code spark.ssl.rpc.*} among them. Threads, buffers and
 * time-outs of the connections are {@code spark.ddstore.io.*}, as for Spark's other modules.
 */
public final class WireOptions {
  private static final String MODULE = "ddstore";
  static final String IO = "spark." + MODULE + ".io.";
  private static final int MOST_THREADS = 8;

  /** Spark's own default; its method for it takes another type in each release. */
  private static final int PORT_RETRIES = 16;

  private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(20);

  private final SparkConf conf;
  private final SecretKeyHolder secrets;
  private final ConfigProvider provider;
  private final String host;
  private final int firstPort;

  /**
   * @param secrets of {@code spark.authenticate}; null if that is off
   * @param host the address under which other processes reach this one
   * @param firstPort the port to listen at, or the next free one of {@code spark.port.maxRetries};
   *     0 for any
   */
  private WireOptions(
      SparkConf conf,
      SecretKeyHolder secrets,
      ConfigProvider provider,
      String host,
      int firstPort) {
    this.conf = conf;
    this.secrets = secrets;
    this.provider = provider;
    this.host = host;
    this.firstPort = firstPort;
  }

  /**
   * Those of a process of Spark: driver or executor.
   *
   * @throws IllegalArgumentException if they ask for a protection that this Spark does not have
   */
  public static WireOptions of(SparkEnv env, int firstPort) {
    SecurityManager security = env.securityManager();
    SparkConf conf = withDefaults(env.conf());
    ConfigProvider provider =
        RpcTls.isEnabled(conf) ? RpcTls.provider(security, conf) : providerOf(conf);
    return new WireOptions(
        conf,
        security.isAuthenticationEnabled() ? security : null,
        provider,
        env.blockManager().blockManagerId().host(),
        firstPort);
  }

  /** Those of a process without Spark's environment. */
  public static WireOptions of(SparkConf conf, SecretKeyHolder secrets, String host) {
    SparkConf complete = withDefaults(conf);
    return new WireOptions(complete, secrets, providerOf(complete), host, 0);
  }

  private static SparkConf withDefaults(SparkConf conf) {
    String threads =
        Integer.toString(Math.min(MOST_THREADS, Runtime.getRuntime().availableProcessors()));
    return conf.clone()
        .setIfMissing(IO + "mode", "NIO")
        .setIfMissing(IO + "serverThreads", threads)
        .setIfMissing(IO + "clientThreads", threads)
        .setIfMissing(IO + "connectionCreationTimeout", CONNECT_TIMEOUT.toSeconds() + "s")
        // Both ends are of one version: nobody needs the older and weaker authentication.
        .setIfMissing("spark.network.crypto.saslFallback", "false");
  }

  private static ConfigProvider providerOf(SparkConf conf) {
    return new ConfigProvider() {
      @Override
      public String get(String name) {
        if (!conf.contains(name)) {
          throw new NoSuchElementException(name);
        }
        return conf.get(name);
      }

      @Override
      public Iterable<Map.Entry<String, String>> getAll() {
        List<Map.Entry<String, String>> all = new ArrayList<>();
        for (Tuple2<String, String> entry : conf.getAll()) {
          all.add(Map.entry(entry._1(), entry._2()));
        }
        return all;
      }
    };
  }

  String host() {
    return host;
  }

  int firstPort() {
    return firstPort;
  }

  /** How many ports after the first are tried. */
  int portRetries() {
    return conf.getInt("spark.port.maxRetries", PORT_RETRIES);
  }

  TransportConf transportConf() {
    return new TransportConf(MODULE, provider);
  }

  /** How long a connection may take to be made. */
  Duration connectTimeout() {
    return Duration.ofMillis(transportConf().connectionCreationTimeoutMs());
  }

  List<TransportServerBootstrap> serverBootstraps() {
    return secrets == null ? List.of() : List.of(new AuthServerBootstrap(transportConf(), secrets));
  }

  List<TransportClientBootstrap> clientBootstraps() {
    return secrets == null
        ? List.of()
        : List.of(
            new AuthClientBootstrap(transportConf(), conf.get("spark.app.id", MODULE), secrets));
  }

  /** Whether what crosses the network can be read by nobody else. */
  public boolean isEncrypted() {
    if (RpcTls.isEnabled(conf)) {
      return true;
    }
    TransportConf transport = transportConf();
    return secrets != null && (transport.encryptionEnabled() || transport.saslEncryption());
  }

  /** What guards the connections, for people. */
  String protection() {
    if (RpcTls.isEnabled(conf)) {
      return "TLS";
    }
    if (secrets == null) {
      return "not encrypted";
    }
    return isEncrypted() ? "authenticated and encrypted" : "authenticated, not encrypted";
  }
}
