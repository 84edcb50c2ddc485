// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.wire;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.SparkConf;
import org.apache.spark.launcher.JavaModuleOptions;
import org.apache.spark.network.sasl.SecretKeyHolder;
import org.ddstore.StoreOptions;
import org.ddstore.collective.Communicator;
import org.ddstore.contract.FilesBackend;
import org.ddstore.contract.Meeting;
import org.ddstore.contract.RankBackend;
import org.ddstore.contract.RankEnv;
import org.ddstore.read.GatherKernels;
import org.ddstore.spark.types.OptionKeys;
import org.ddstore.spark.wire.connection.StoreToken;
import org.ddstore.spark.wire.connection.WireOptions;
import org.ddstore.types.ReadPath;

/**
 * Ranks that read each other's rows, and their own, over tcp, and whose collectives are messages.
 *
 * @param token of all stores
 * @param root of the stores' files
 * @param guarded whether Spark's authentication and encryption are on
 * @param settings of Spark, besides
 * @param kernel value of {@link GatherKernels#PROPERTY} in ranks with a JVM of their own
 */
public record TcpBackend(
    StoreToken token, String root, boolean guarded, Map<String, String> settings, String kernel)
    implements RankBackend {
  private static final String NATIVE = "native";
  private static final Duration READ_TIMEOUT = Duration.ofSeconds(60);

  /** Outlives scenarios, as an executor does. */
  private static WireSession session;

  public static TcpBackend plain(Path root) {
    return new TcpBackend(StoreToken.random(), root.toString(), false, Map.of(), NATIVE);
  }

  /** Without data channels. */
  public static TcpBackend overSparksNetwork(Path root) {
    return plain(root).with(OptionKeys.SETTING_DATA_CHANNELS, "false");
  }

  /** With data channels that Java serves. */
  public static TcpBackend byJava(Path root) {
    return new TcpBackend(StoreToken.random(), root.toString(), false, Map.of(), "java");
  }

  public static TcpBackend guarded(Path root) {
    return new TcpBackend(StoreToken.random(), root.toString(), true, Map.of(), NATIVE);
  }

  /** The same with one more setting of Spark. */
  public TcpBackend with(String key, String value) {
    Map<String, String> more = new HashMap<>(settings);
    more.put(key, value);
    return new TcpBackend(token, root, guarded, more, kernel);
  }

  /** Returns the options that both ends of a connection must agree on. */
  public static WireOptions options(boolean guarded, String host) {
    return options(guarded, host, Map.of());
  }

  /** As {@link #options(boolean, String)}, with more settings of Spark. */
  public static WireOptions options(boolean guarded, String host, Map<String, String> settings) {
    SparkConf conf = new SparkConf(false).set("spark.ddstore.io.connectionCreationTimeout", "5s");
    settings.forEach(conf::set);
    return guarded
        ? WireOptions.of(
            conf.set("spark.authenticate", "true")
                .set("spark.network.crypto.enabled", "true")
                .set("spark.network.crypto.saslFallback", "false"),
            new Secret(),
            host)
        : WireOptions.of(conf, null, host);
  }

  private static final class Secret implements SecretKeyHolder {
    @Override
    public String getSaslUser(String application) {
      return "ddstore";
    }

    @Override
    public String getSecretKey(String application) {
      return "a secret of this test";
    }
  }

  @Override
  public List<String> directories() {
    return List.of(root);
  }

  @Override
  public List<String> jvmOptions() {
    List<String> all = new ArrayList<>();
    Collections.addAll(all, JavaModuleOptions.defaultModuleOptions().split(" "));
    all.add("-D%s=%s".formatted(GatherKernels.PROPERTY, kernel));
    return all;
  }

  @Override
  public RankEnv enter(Meeting meeting, Duration timeout) throws IOException {
    WireSession wire = open(token, options(guarded, meeting.address(), settings));
    Communicator group = FilesBackend.join(wire.lanes(Path.of(root), false), meeting, timeout);
    return new RankEnv(
        meeting,
        group,
        wire,
        StoreOptions.defaults()
            .sharedMemory(Path.of(root))
            .shortcut(false)
            .readTimeout(READ_TIMEOUT),
        owner -> ReadPath.REMOTE);
  }

  /** The session of this JVM, without what the harness does for its scenarios. */
  public static synchronized WireSession session() {
    return session;
  }

  /** As {@link #session}, which is made if there is none yet. */
  public static synchronized WireSession open(StoreToken token, WireOptions options) {
    if (session == null) {
      session = Wire.join(token, options);
    }
    return session;
  }
}
