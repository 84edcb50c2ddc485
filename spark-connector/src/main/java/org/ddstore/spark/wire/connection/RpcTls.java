// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.wire.connection;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.Optional;
import org.apache.spark.SecurityManager;
import org.apache.spark.SparkConf;
import org.apache.spark.network.util.ConfigProvider;
import org.apache.spark.package$;

/**
 * Spark's TLS between processes, {@code spark.ssl.rpc.*}. Available since Spark 4.0, so its methods
 * are looked up by reflection and this class also loads on 3.5.
 */
final class RpcTls {
  private static final String ENABLED = "spark.ssl.rpc.enabled";

  /** Method of the security manager that returns its {@code SSLOptions}. */
  private static final Optional<Method> OPTIONS =
      Arrays.stream(SecurityManager.class.getMethods())
          .filter(method -> method.getName().equals("getRpcSSLOptions"))
          .findFirst();

  private RpcTls() {}

  /**
   * Returns whether connections use TLS.
   *
   * @throws IllegalArgumentException if this Spark has no TLS: 3.5 ignores the setting, and rows
   *     would be sent in the clear against the user's intent
   */
  static boolean isEnabled(SparkConf conf) {
    if (!conf.getBoolean(ENABLED, false)) {
      return false;
    }
    if (OPTIONS.isEmpty()) {
      throw new IllegalArgumentException(
          ("setting %s is true, but Spark %s has no TLS between processes: remove it and encrypt with"
                  + " spark.authenticate and spark.network.crypto.enabled, or use Spark 4")
              .formatted(ENABLED, package$.MODULE$.SPARK_VERSION()));
    }
    return true;
  }

  /** Returns the settings together with the passwords of TLS. Requires that TLS is enabled. */
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
          "TLS between processes of Spark %s is not supported: use Spark 4.0 to 4.2"
              .formatted(package$.MODULE$.SPARK_VERSION()),
          e);
    }
  }
}
