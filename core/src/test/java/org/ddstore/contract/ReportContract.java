package org.ddstore.contract;

interface ReportContract extends Contract {}
