package org.ddstore.spark;

import java.io.Serializable;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.apache.spark.SparkEnv;
import org.apache.spark.package$;

/** What one executor finds: its host, its versions, and the ways in which it can read. */
public final class ExecutorReport implements Serializable {
  private static final long serialVersionUID = 1L;

  private final HostFacts host;
  private final ArrayList<TransportReport> transports;
  private final String sparkVersion;
  private final String scalaVersion;

  private ExecutorReport(
      HostFacts host, List<TransportReport> transports, String sparkVersion, String scalaVersion) {
    this.host = host;
    this.transports = new ArrayList<>(transports);
    this.sparkVersion = sparkVersion;
    this.scalaVersion = scalaVersion;
  }

  /** Of the process that calls. */
  static ExecutorReport ofThisProcess(Path sharedMemory) {
    SparkEnv env = SparkEnv.get();
    return new ExecutorReport(
        HostFacts.read(sharedMemory).withExecutorId(env == null ? null : env.executorId()),
        TransportReport.all(sharedMemory),
        package$.MODULE$.SPARK_VERSION(),
        scala.util.Properties$.MODULE$.versionNumberString());
  }

  public HostFacts host() {
    return host;
  }

  public List<TransportReport> transports() {
    return Collections.unmodifiableList(transports);
  }

  public String sparkVersion() {
    return sparkVersion;
  }

  public String scalaVersion() {
    return scalaVersion;
  }
}
