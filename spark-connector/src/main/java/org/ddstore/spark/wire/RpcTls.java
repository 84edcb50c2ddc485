package org.ddstore.spark.wire;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.Optional;
import org.apache.spark.SecurityManager;
import org.apache.spark.SparkConf;
import org.apache.spark.network.util.ConfigProvider;
import org.apache.spark.package$;

/**
 * Spark's own TLS between processes, {@code spark.ssl.rpc.*}. It came with Spark 4.0: what it has
 * for it is found by name, so that this class loads on 3.5, too.
 */
final class RpcTls {
  private static final String ENABLED = "spark.ssl.rpc.enabled";

  /** Of the security manager, to its {@code SSLOptions}. */
  private static final Optional<Method> OPTIONS =
      Arrays.stream(SecurityManager.class.getMethods())
          .filter(method -> method.getName().equals("getRpcSSLOptions"))
          .findFirst();

  private RpcTls() {}

  /**
   * Whether connections are to use it.
   *
   * @throws IllegalArgumentException if this Spark has none: 3.5 ignores the setting, and rows
   *     would go in the clear that somebody wanted to be encrypted
   */
  static boolean isEnabled(SparkConf conf) {
    if (!conf.getBoolean(ENABLED, false)) {
      return false;
    }
    if (OPTIONS.isEmpty()) {
      throw new IllegalArgumentException(
          ("%s is true, and Spark %s has no TLS between processes: leave it out (there,"
                  + " spark.authenticate with spark.network.crypto.enabled encrypts), or use Spark"
                  + " 4")
              .formatted(ENABLED, package$.MODULE$.SPARK_VERSION()));
    }
    return true;
  }

  /** The settings with the passwords that Spark keeps apart from them; where it is enabled. */
  static ConfigProvider provider(SecurityManager security, SparkConf conf) {
    try {
      Object options = OPTIONS.orElseThrow().invoke(security);
      return (ConfigProvider)
          options
              .getClass()
              .getMethod("createConfigProvider", SparkConf.class)
              .invoke(options, conf);
    } catch (InvocationTargetException e) {
      if (e.getCause() instanceof RuntimeException cause) {
        throw cause;
      }
      throw new IllegalStateException(e);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(
          "Spark %s has another TLS between processes than 4.0 to 4.2"
              .formatted(package$.MODULE$.SPARK_VERSION()),
          e);
    }
  }
}
