// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.source;

import org.apache.hadoop.conf.Configuration;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.broadcast.Broadcast;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.util.SerializableConfiguration;
import org.ddstore.formats.InputFile;

/** The driver's configuration of Hadoop, sent once to each executor instead of with each file. */
final class BroadcastHadoop implements InputFile.Hadoop {
  private static final long serialVersionUID = 1L;

  private final Broadcast<SerializableConfiguration> sent;

  BroadcastHadoop(SparkSession session) {
    JavaSparkContext context = JavaSparkContext.fromSparkContext(session.sparkContext());
    this.sent = context.broadcast(new SerializableConfiguration(context.hadoopConfiguration()));
  }

  @Override
  public Configuration configuration() {
    return sent.value().value();
  }
}
