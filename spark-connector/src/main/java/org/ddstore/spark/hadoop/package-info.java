// SPDX-License-Identifier: Apache-2.0
/** Files in the file systems that Hadoop knows: HDFS, object stores, local directories. */
@Internal
package org.ddstore.spark.hadoop;

import org.ddstore.types.Internal;
