package org.ddstore.spark.cluster;

import java.util.concurrent.atomic.AtomicReference;
import org.apache.spark.SparkContext;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Logs that Spark does not authenticate connections: once in an application, whatever jobs and
 * attempts it runs. Any thread.
 */
public final class AuthenticationWarning {
  private static final Logger LOG = LoggerFactory.getLogger(AuthenticationWarning.class);
  private static final AtomicReference<String> WARNED = new AtomicReference<>("");

  private AuthenticationWarning() {}

  /** Looks at an application before ranks start. */
  public static void look(SparkContext context) {
    RunWarnings.ofAuthentication(context.master(), context.getConf())
        .filter(warning -> isFirstOf(context.applicationId()))
        .ifPresent(LOG::warn);
  }

  /** True for the first call of an application; a JVM has one application at a time. */
  static boolean isFirstOf(String application) {
    return !WARNED.getAndSet(application).equals(application);
  }
}
