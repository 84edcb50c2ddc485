/** Stores made from DataFrames: specs, barrier jobs and resident stores. */
package org.ddstore.spark;
