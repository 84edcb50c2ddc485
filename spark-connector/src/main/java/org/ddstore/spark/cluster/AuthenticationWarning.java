// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.cluster;

import java.util.concurrent.atomic.AtomicReference;
import org.apache.spark.SparkContext;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A warning, logged once per application, that Spark does not authenticate connections.
 * Thread-safe.
 */
public final class AuthenticationWarning {
  private static final Logger LOG = LoggerFactory.getLogger(AuthenticationWarning.class);
  private static final AtomicReference<String> WARNED = new AtomicReference<>("");

  private AuthenticationWarning() {}

  /** Logs the warning if it applies to an application. Called before ranks start. */
  public static void logIfNeeded(SparkContext context) {
    RunWarnings.ofAuthentication(context.master(), context.getConf())
        .filter(warning -> isFirstOf(context.applicationId()))
        .ifPresent(LOG::warn);
  }

  /** Returns true on the first call for an application; a JVM has one application at a time. */
  static boolean isFirstOf(String application) {
    return !WARNED.getAndSet(application).equals(application);
  }
}
