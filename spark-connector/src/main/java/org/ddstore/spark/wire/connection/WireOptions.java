// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.wire.connection;

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
import org.ddstore.spark.types.OptionKeys;
import scala.Tuple2;

/**
 * The options of the network endpoint of a JVM: Spark's settings, including {@code
 * spark.authenticate}, {@code spark.network.crypto.*} and {@code spark.ssl.rpc.*}, and {@code
 * spark.ddstore.io.*} for threads, buffers and timeouts of connections, as for Spark's other
 * modules.
 */
public final class WireOptions {
  private static final String MODULE = "ddstore";
  static final String IO = "spark." + MODULE + ".io.";
  private static final int MAX_THREADS = 8;

  /** Default of Spark, whose method for it has a different parameter type in each release. */
  private static final int PORT_RETRIES = 16;

  private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(20);

  private final SparkConf conf;
  private final SecretKeyHolder secrets;
  private final ConfigProvider provider;
  private final String host;
  private final int firstPort;

  /**
   * @param secrets secrets of {@code spark.authenticate}; null if that is off
   * @param host address at which other processes reach this one
   * @param firstPort first port to try, followed by {@code spark.port.maxRetries} further ones; 0
   *     for any
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
   * Returns the options of a Spark process, driver or executor.
   *
   * @throws IllegalArgumentException if the settings require protection that this Spark lacks
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

  /** Returns the options of a process without Spark's environment. */
  public static WireOptions of(SparkConf conf, SecretKeyHolder secrets, String host) {
    SparkConf complete = withDefaults(conf);
    return new WireOptions(complete, secrets, providerOf(complete), host, 0);
  }

  private static SparkConf withDefaults(SparkConf conf) {
    String threads = Integer.toString(Math.min(MAX_THREADS, availableProcessors()));
    return conf.clone()
        .setIfMissing(IO + "mode", "NIO")
        .setIfMissing(IO + "serverThreads", threads)
        .setIfMissing(IO + "clientThreads", threads)
        .setIfMissing(IO + "connectionCreationTimeout", CONNECT_TIMEOUT.toSeconds() + "s")
        // Both ends have the same version: the older, weaker authentication is not needed.
        .setIfMissing("spark.network.crypto.saslFallback", "false");
  }

  private static int availableProcessors() {
    return Runtime.getRuntime().availableProcessors();
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

  public String host() {
    return host;
  }

  public int firstPort() {
    return firstPort;
  }

  /** Returns the number of ports to try after the first. */
  public int portRetries() {
    return conf.getInt("spark.port.maxRetries", PORT_RETRIES);
  }

  /**
   * Returns whether rows are read over data channels, which are not encrypted: not if Spark's
   * network is.
   */
  public boolean usesDataChannels() {
    return !isEncrypted() && conf.getBoolean(OptionKeys.SETTING_DATA_CHANNELS, true);
  }

  /** Returns why readers from outside of Spark cannot read in this process; empty if they can. */
  public String outsideProblem() {
    if (!conf.getBoolean(OptionKeys.SETTING_GRANTS, true)) {
      return OptionKeys.SETTING_GRANTS + "=false";
    }
    if (isEncrypted()) {
      return "Spark encrypts its network, and the data port does not encrypt";
    }
    return usesDataChannels() ? "" : OptionKeys.SETTING_DATA_CHANNELS + "=false";
  }

  /** Returns the first port to try for data channels, 0 for any. */
  public int firstDataPort() {
    return conf.getInt(OptionKeys.SETTING_DATA_PORT, 0);
  }

  public int dataThreads() {
    int threads = transportConf().serverThreads();
    return threads > 0 ? threads : Math.min(MAX_THREADS, availableProcessors());
  }

  public TransportConf transportConf() {
    return new TransportConf(MODULE, provider);
  }

  public Duration connectTimeout() {
    return Duration.ofMillis(transportConf().connectionCreationTimeoutMs());
  }

  public List<TransportServerBootstrap> serverBootstraps() {
    return secrets == null ? List.of() : List.of(new AuthServerBootstrap(transportConf(), secrets));
  }

  public List<TransportClientBootstrap> clientBootstraps() {
    return secrets == null
        ? List.of()
        : List.of(
            new AuthClientBootstrap(transportConf(), conf.get("spark.app.id", MODULE), secrets));
  }

  public boolean isEncrypted() {
    if (RpcTls.isEnabled(conf)) {
      return true;
    }
    TransportConf transport = transportConf();
    return secrets != null && (transport.encryptionEnabled() || transport.saslEncryption());
  }

  /** Returns a human-readable description of what carries the rows, and why. */
  public String pathOfRows() {
    if (isEncrypted()) {
      return "over Spark's network";
    }
    return usesDataChannels()
        ? "over data channels"
        : "over Spark's network (%s=false)".formatted(OptionKeys.SETTING_DATA_CHANNELS);
  }

  /** Returns a human-readable description of the protection of connections. */
  public String protection() {
    if (RpcTls.isEnabled(conf)) {
      return "TLS";
    }
    if (secrets == null) {
      return "not encrypted";
    }
    return isEncrypted() ? "authenticated and encrypted" : "authenticated, not encrypted";
  }
}
