/** JMH benchmarks, one question per class. */
package org.ddstore.benchmarks;
