package org.ddstore.spark.report;

import java.io.Serializable;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.apache.spark.SparkEnv;
import org.apache.spark.package$;
import org.ddstore.nativeio.NativeLibrary;
import org.ddstore.read.GatherKernels;
import org.ddstore.spark.cluster.HostProbe;
import org.ddstore.spark.types.HostFacts;

/** What one executor finds: its host, its versions, and the ways in which it can read. */
public final class ExecutorReport implements Serializable {
  private static final long serialVersionUID = 1L;

  private final HostFacts host;
  private final ArrayList<TransportReport> transports;
  private final String sparkVersion;
  private final String scalaVersion;
  private final String nativeLibrary;
  private final String gatherKernel;

  private ExecutorReport(
      HostFacts host, List<TransportReport> transports, String sparkVersion, String scalaVersion) {
    this.host = host;
    this.transports = new ArrayList<>(transports);
    this.sparkVersion = sparkVersion;
    this.scalaVersion = scalaVersion;
    this.nativeLibrary = NativeLibrary.description();
    this.gatherKernel = GatherKernels.description();
  }

  /** Of the process that calls. */
  static ExecutorReport ofThisProcess(Path sharedMemory) {
    SparkEnv env = SparkEnv.get();
    return new ExecutorReport(
        HostProbe.read(sharedMemory).withExecutorId(env == null ? null : env.executorId()),
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

  /** Whether the library in C is loaded; else why not, and what helps. */
  public String nativeLibrary() {
    return nativeLibrary;
  }

  /** What copies rows: {@code native (..)} or {@code java (..)}, with the reason. */
  public String gatherKernel() {
    return gatherKernel;
  }
}
